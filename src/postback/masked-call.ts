import type { IncomingHttpHeaders } from "node:http";
import { cutToBytes, isObject, type JsonValue } from "../domain/json.ts";
import type { HttpReply, HttpRequest } from "../platform/connector/connector.ts";

const MASK = "…";
const BODY_BYTES_MAX = 16 * 1024;

/** Names of secrets and signatures in requests. Xiaomi's `info` is masked too: its key can be computed from it. */
const HIDDEN_NAME = /^(?:info|salt|authorization|(?:.*[-_])?sign)$|(?:token|secret|password|signature|akey)$/i;

/** Shorter values are too frequent as parts of others to be searched for. */
const SEARCHED_LENGTH_MIN = 4;

export type ShownRequest = { method: string; url: string; headers: Record<string, string>; body: string };
export type ShownAnswer = { status: number; headers: Record<string, string>; body: string; is_cut: boolean };

/**
 * Shows a call to people without its secrets and signatures: fields with such a name, and the account's secrets and what
 * the call itself names as hidden, wherever they occur. What was hidden in the request is hidden in the answer too,
 * because some platforms repeat what they refused.
 */
export class CallMask {
  readonly #shownNames: ReadonlySet<string>;
  readonly #hiddenNames: ReadonlySet<string>;
  readonly #hidden = new Set<string>();

  /**
   * `shownNames`: fields that are no secrets in spite of their names, such as a click's clue_token. `hiddenNames`: fields
   * that hold a secret or a signature, whatever their names.
   */
  constructor(options: { secrets: readonly string[]; shownNames: Iterable<string>; hiddenNames?: Iterable<string> }) {
    const { secrets, shownNames, hiddenNames = [] } = options;
    this.#shownNames = new Set(shownNames);
    this.#hiddenNames = new Set(hiddenNames);
    for (const secret of secrets) this.#hide(secret);
  }

  request({ method, url, headers, body = "", hidden = [] }: HttpRequest): ShownRequest {
    const address = new URL(url);
    for (const value of hidden) this.#hide(value);
    for (const [name, value] of address.searchParams) if (this.#isHidden(name)) this.#hide(value);
    for (const [name, value] of Object.entries(headers)) if (this.#isHidden(name)) this.#hide(value);
    this.#hideIn(isForm(headers) ? Object.fromEntries(new URLSearchParams(body)) : jsonOf(body));
    return {
      method,
      url: this.#masked(this.#maskedQuery(url)),
      headers: this.#maskedHeaders(Object.entries(headers)),
      body: this.#masked(body),
    };
  }

  answer({ status, body }: HttpReply, headers: IncomingHttpHeaders): ShownAnswer {
    const whole = this.#masked(body);
    const shown = cutToBytes(whole, BODY_BYTES_MAX);
    const named = TOLD_HEADERS.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, String(value)] as [string, string]];
    });
    return { status, headers: this.#maskedHeaders(named), body: shown, is_cut: shown.length < whole.length };
  }

  /** A sentence that may quote the answer. */
  sentence(text: string): string {
    return this.#masked(text);
  }

  #isHidden(name: string): boolean {
    return this.#hiddenNames.has(name) || (HIDDEN_NAME.test(name) && !this.#shownNames.has(name));
  }

  /** Remembers a value in every spelling in which a call may contain it. */
  #hide(value: string): void {
    if (value.length < SEARCHED_LENGTH_MIN) return;
    const form = new URLSearchParams([["", value]]).toString().slice(1);
    const spellings = [value, encodeURIComponent(value.toWellFormed()), form, JSON.stringify(value).slice(1, -1)];
    for (const spelling of spellings) this.#hidden.add(spelling);
  }

  #hideIn(value: JsonValue | undefined): void {
    if (Array.isArray(value)) for (const one of value) this.#hideIn(one);
    if (!isObject(value)) return;
    for (const [name, own] of Object.entries(value)) {
      if (typeof own === "string" && this.#isHidden(name)) this.#hide(own);
      else this.#hideIn(own);
    }
  }

  #maskedQuery(url: string): string {
    return url.replace(/([?&])([^=&#]+)=([^&#]*)/g, (pair, sign: string, name: string) =>
      this.#isHidden(name) ? `${sign}${name}=${MASK}` : pair,
    );
  }

  #maskedHeaders(entries: readonly [string, string][]): Record<string, string> {
    return Object.fromEntries(
      entries.map(([name, value]) => [name, this.#isHidden(name) ? MASK : this.#masked(value)] as const),
    );
  }

  /** Long values first: a secret may contain another one. */
  #masked(text: string): string {
    const hidden = [...this.#hidden].sort((left, right) => right.length - left.length);
    return hidden.reduce((masked, value) => masked.replaceAll(value, MASK), text);
  }
}

/** Headers of answers that say what came, or by which a platform's support finds the call. */
const TOLD_HEADERS = [
  ...["content-type", "date", "location", "retry-after", "x-tt-logid", "x-request-id", "x-trace-id", "traceid"],
];

function isForm(headers: HttpRequest["headers"]): boolean {
  const [, type = ""] = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type") ?? [];
  return type.startsWith("application/x-www-form-urlencoded");
}

function jsonOf(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
