import { cutToBytes, isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { cleanValue } from "../../domain/user/identity.ts";
import type { HttpReply, ReplyVerdict } from "./connector.ts";

type Kind = ReplyVerdict["kind"];

/** A platform's code and text in a reply, and what they mean; `kind` is undefined when that is not documented. */
export type Answer = { code: string; text: string; kind: Kind | undefined };

export type Kinds = Readonly<Record<string, Kind>>;

type Said = { code: JsonValue | undefined; text: JsonValue | undefined };

/** Looks up a platform's code in the table of its codes. */
export function answerBy(said: Said, kinds: Kinds): Answer {
  const name = cleanValue(said.code);
  return { code: name, text: cleanValue(said.text), kind: Object.hasOwn(kinds, name) ? kinds[name] : undefined };
}

/**
 * Reads a reply. An undocumented code is retried, because a platform that answered with a refusal has not counted the
 * conversion; an undocumented code with status 4xx is not.
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

export function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

export function bodyOf(reply: HttpReply): JsonObject | undefined {
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

/** Masks long words, which may be secrets: some platforms repeat what they refused. */
export function masked(text: string): string {
  return cutToBytes(text.replaceAll(/[\w+/=.%~-]{24,}/g, "…"), 200).replace(/\.$/, "");
}
