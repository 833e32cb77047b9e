import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { cleanValue } from "../../domain/user/identity.ts";
import type { AccountField, HttpReply, TokenAnswer } from "./connector.ts";
import { answerOf, countOf, type Envelope, textOf } from "./reply.ts";
import { bodyOf, isPassing, masked } from "./verdict.ts";

export const TOKEN_FIELDS: readonly AccountField[] = [
  { name: "access_token", hint: "Access token", fallback: "", isSecret: true },
  { name: "refresh_token", hint: "Refresh token, with which a new access token is had", fallback: "", isSecret: true },
];

/** For an account whose tokens are had for a developer application. */
export const CLIENT_TOKEN_FIELDS: readonly AccountField[] = [
  { name: "access_token", hint: "Token of the marketing interface.", fallback: "", isSecret: true },
  { name: "refresh_token", hint: "Gets the next access token.", fallback: "", isSecret: true },
  { name: "client_id", hint: "The developer application, for new tokens.", fallback: "" },
  { name: "client_secret", hint: "Its secret.", fallback: "", isSecret: true },
];

/** What an answer to a token's refresh holds. `expiresInS` may be missing. */
type RefreshAnswer = {
  accessToken: JsonValue | undefined;
  refreshToken: JsonValue | undefined;
  expiresInS: JsonValue | undefined;
};

/** Reads a reply to a question for tokens, where the platform wraps it as its other answers. */
export function tokenAnswerOf(
  reply: HttpReply,
  options: { envelope: Envelope; nowMs: number; read: (body: JsonObject) => RefreshAnswer },
): TokenAnswer {
  const answer = answerOf(reply, options.envelope);
  if (answer.kind !== "answer") {
    // A token that is refused here is the refresh token: nobody has another one.
    return { kind: answer.kind === "retry" ? "retry" : "permanent", reason: answer.reason };
  }
  const { accessToken, refreshToken, expiresInS } = options.read(answer.body);
  const seconds = countOf(expiresInS);
  const expiresAtMs = seconds > 0 ? options.nowMs + seconds * 1_000 : null;
  const token = newToken({ accessToken: textOf(accessToken), refreshToken: textOf(refreshToken), expiresAtMs });
  return token ?? { kind: "retry", reason: `${options.envelope.platform} answered without an access token.` };
}

/** Reads a reply to a question for tokens, where code 0 comes with data. Its body is never shown: it can hold tokens. */
export function dataTokenOf(reply: HttpReply, read: (data: JsonObject) => TokenAnswer | undefined): TokenAnswer {
  const { status } = reply;
  const body = bodyOf(reply);
  const code = cleanValue(body?.code);
  if (isPassing(status) || (status < 300 && code === "")) {
    return { kind: "retry", reason: `No token came: HTTP ${status}.` };
  }
  const answer = code === "0" && isObject(body?.data) ? read(body.data) : undefined;
  if (answer) return answer;
  const kind = PASSING_CODES.has(code) ? "retry" : "permanent";
  return { kind, reason: `No token came: HTTP ${status}${code === "" ? "" : `, code ${masked(code)}`}.` };
}

/** Tencent's words for busy, under maintenance and too many calls; no other platform has codes of this range. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  ...["10000", "10001", "11008", "11016", "11017", "11018", "11019"],
]);

/** Undefined: there is no access token. Where no new refresh token comes, the one at hand stays good. */
export function newToken(token: {
  accessToken: string;
  refreshToken: string;
  expiresAtMs: number | null;
}): TokenAnswer | undefined {
  const { accessToken, refreshToken, expiresAtMs } = token;
  if (accessToken === "") return undefined;
  const values = { access_token: accessToken, ...(refreshToken !== "" && { refresh_token: refreshToken }) };
  return { kind: "token", values, expiresAtMs };
}
