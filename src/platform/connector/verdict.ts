import { cutToBytes, isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { cleanValue } from "../../domain/user/identity.ts";
import type { HttpReply, ReplyVerdict, TokenAnswer } from "./connector.ts";

type Kind = ReplyVerdict["kind"];

/** What a platform's own words in a reply mean; undefined where nobody documents them. */
export type Answer = { code: string; text: string; kind: Kind | undefined };

export type Kinds = Readonly<Record<string, Kind>>;

type Said = { code: JsonValue | undefined; text: JsonValue | undefined };

export function answerOf(said: Said, kinds: Kinds): Answer {
  const name = textOf(said.code);
  return { code: name, text: textOf(said.text), kind: Object.hasOwn(kinds, name) ? kinds[name] : undefined };
}

/**
 * Reads a reply. An undocumented code is tried again, since a platform that has answered with a refusal has not
 * counted; an undocumented code with a status of 4xx is not.
 */
export function verdictOf(reply: HttpReply, read: (body: JsonObject) => Answer): ReplyVerdict {
  const { status } = reply;
  if (isPassing(status)) return { kind: "retry", reason: `The platform answered with HTTP ${status}.` };
  const body = bodyOf(reply);
  const answer = body && read(body);
  if (status >= 400) {
    const said = answer && answer.code !== "" ? `, ${saidIn(answer)}` : "";
    const kind = answer?.kind === "retry" || answer?.kind === "token" ? answer.kind : "permanent";
    return { kind, reason: `The platform answered with HTTP ${status}${said}.` };
  }
  if (status < 200 || status >= 300) return { kind: "retry", reason: `The platform answered with HTTP ${status}.` };
  if (!answer || answer.code === "") return { kind: "retry", reason: "The platform's answer cannot be read." };
  if (answer.kind === "accepted") return { kind: "accepted" };
  return { kind: answer.kind ?? "retry", reason: `The platform answered ${saidIn(answer)}.` };
}

/** Reads a reply to a question for tokens: its body is never shown, since it can hold some. */
export function tokenAnswerOf(reply: HttpReply, read: (data: JsonObject) => TokenAnswer | undefined): TokenAnswer {
  const { status } = reply;
  const body = bodyOf(reply);
  const code = textOf(body?.code);
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

function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

function bodyOf(reply: HttpReply): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(reply.body);
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function saidIn({ code, text }: Answer): string {
  return text === "" ? masked(code) : `${masked(code)}: ${masked(text)}`;
}

/** Some platforms repeat in their answer what they did not like. A text this long without a space is no word. */
function masked(text: string): string {
  return cutToBytes(text.replaceAll(/[\w+/=.%~-]{24,}/g, "…"), 200).replace(/\.$/, "");
}

export function textOf(value: JsonValue | undefined): string {
  return cleanValue(value);
}
