import { isObject, type JsonObject, type JsonValue, parseJsonWithIds } from "../../domain/json.ts";
import type { HttpReply } from "./connector.ts";

export type Refusal = { kind: "retry" | "permanent" | "token"; reason: string };

/** How a platform wraps its answers. */
export type Envelope = {
  /** The platform's name in reasons. */
  platform: string;
  /** The failure in the platform's own words, or `fine`. Undefined when the body is not one of its answers. */
  outcome(body: JsonObject): "fine" | Failure | undefined;
  /** What a failure means, or undefined to let the HTTP status decide. */
  kindOf(failure: Failure): Refusal["kind"] | undefined;
};

export type Failure = {
  code: string;
  message: string;
  /** Whether the platform says that the error is its own. */
  isItsOwn?: boolean;
};

/** The body of an answer that succeeded, or why there is none. */
export function answerOf(reply: HttpReply, envelope: Envelope): { kind: "answer"; body: JsonObject } | Refusal {
  const body = jsonOf(reply.body);
  const outcome = body && envelope.outcome(body);
  const isSuccess = reply.status >= 200 && reply.status < 300;
  if (body && outcome === "fine" && isSuccess) return { kind: "answer", body };
  if (outcome === undefined || outcome === "fine") {
    const what = isSuccess ? "something unexpected" : `HTTP status ${reply.status}`;
    return { kind: isSuccess ? "retry" : kindOfStatus(reply.status), reason: `${envelope.platform} answered ${what}.` };
  }
  const kind = envelope.kindOf(outcome) ?? (isSuccess ? "permanent" : kindOfStatus(reply.status));
  return { kind, reason: reasonOf(envelope.platform, outcome) };
}

/** The envelope `{code, message, data}`, where the code 0 is success. */
export function codeOutcome(body: JsonObject): "fine" | Failure | undefined {
  const code = textOf(body.code);
  if (code === "") return undefined;
  return code === "0" ? "fine" : { code, message: textOf(body.message) };
}

function jsonOf(text: string): JsonObject | undefined {
  try {
    const value = parseJsonWithIds(Buffer.from(text));
    return isObject(value) ? value : undefined;
  } catch {
    // A gateway's error page: the status decides.
    return undefined;
  }
}

function kindOfStatus(status: number): Refusal["kind"] {
  if (status === 401) return "token";
  return status >= 500 || [408, 425, 429].includes(status) ? "retry" : "permanent";
}

const REASON_CHARACTERS_MAX = 200;

function reasonOf(platform: string, { code, message }: Failure): string {
  const told = message.replace(/\s+/g, " ").replace(SECRET_LIKE, hidden).slice(0, REASON_CHARACTERS_MAX);
  return `${platform} answered ${[code, told.replace(/[\s.。!！]+$/u, "")].filter((part) => part !== "").join(": ")}.`;
}

/**
 * Texts that may be secrets: platforms repeat what they were sent, such as a token or a key. Digits alone are an id.
 */
const SECRET_LIKE = /[\w+/=.-]{16,}/g;

function hidden(run: string): string {
  return /\d/.test(run) && /[a-z]/i.test(run) ? "…" : run;
}

export function textOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

export function countOf(value: JsonValue | undefined): number {
  const count = Math.trunc(Number(textOf(value)));
  return Number.isFinite(count) ? Math.min(Math.max(count, 0), Number.MAX_SAFE_INTEGER) : 0;
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isObject(item)) : [];
}
