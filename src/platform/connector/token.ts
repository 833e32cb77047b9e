import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { cleanValue } from "../../domain/user/identity.ts";
import type { AccountField, HttpReply, TokenAnswer } from "./connector.ts";
import { answerOf, countOf, type Envelope, textOf } from "./reply.ts";
import { bodyOf, isPassing, masked } from "./verdict.ts";

export const TOKEN_FIELDS: readonly AccountField[] = [
  { name: "access_token", hint: "Access token", fallback: "", isSecret: true },
  { name: "refresh_token", hint: "Refresh token, which gets the next access token", fallback: "", isSecret: true },
];

/** Fields of accounts whose tokens belong to a developer application. */
export const CLIENT_TOKEN_FIELDS: readonly AccountField[] = [
  { name: "access_token", hint: "Token of the marketing interface.", fallback: "", isSecret: true },
  { name: "refresh_token", hint: "Gets the next access token.", fallback: "", isSecret: true },
  { name: "client_id", hint: "Id of the developer application, for new tokens.", fallback: "" },
  { name: "client_secret", hint: "Secret of the developer application.", fallback: "", isSecret: true },
];

/** The address to which a person's browser is sent to authorise us. */
export function authoriseField(fallback: string): AccountField {
  return { name: "authorise_url", hint: "Page on which people authorise the developer application", fallback };
}

/** The content of an answer with tokens. Lifetimes may be missing. */
type GivenTokens = {
  accessToken: JsonValue | undefined;
  refreshToken: JsonValue | undefined;
  expiresInS: JsonValue | undefined;
  refreshExpiresInS?: JsonValue | undefined;
};

/** Reads a reply with tokens that has the same envelope as the platform's other answers. */
export function tokenAnswerOf(
  reply: HttpReply,
  options: { envelope: Envelope; nowMs: number; read: (body: JsonObject) => GivenTokens },
): TokenAnswer {
  const answer = answerOf(reply, options.envelope);
  if (answer.kind !== "answer") {
    // A token refused here is the refresh token, and there is no other one.
    return { kind: answer.kind === "retry" ? "retry" : "permanent", reason: answer.reason };
  }
  const { accessToken, refreshToken, expiresInS, refreshExpiresInS } = options.read(answer.body);
  const endOf = (seconds: number) => (seconds > 0 ? options.nowMs + seconds * 1_000 : null);
  const token = newToken({
    accessToken: textOf(accessToken),
    refreshToken: textOf(refreshToken),
    expiresAtMs: endOf(countOf(expiresInS)),
    refreshExpiresAtMs: endOf(countOf(refreshExpiresInS)),
  });
  return token ?? { kind: "retry", reason: `${options.envelope.platform} answered without an access token.` };
}

/**
 * Reads a reply with tokens in which code 0 comes with data. The body is never shown, because it can contain tokens.
 */
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

/** Tencent's codes for busy, under maintenance and too many calls; no other platform uses codes in this range. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  ...["10000", "10001", "11008", "11016", "11017", "11018", "11019"],
]);

/** The new token, or undefined when there is no access token. Without a new refresh token, the old one stays valid. */
export function newToken(token: {
  accessToken: string;
  refreshToken: string;
  expiresAtMs: number | null;
  refreshExpiresAtMs: number | null;
}): TokenAnswer | undefined {
  const { accessToken, refreshToken, expiresAtMs, refreshExpiresAtMs } = token;
  if (accessToken === "") return undefined;
  const values = { access_token: accessToken, ...(refreshToken !== "" && { refresh_token: refreshToken }) };
  return { kind: "token", values, expiresAtMs, refreshExpiresAtMs };
}
