import type { JsonValue } from "../../domain/json.ts";
import type { AccountSettings, HttpRequest, Prepared } from "./connector.ts";

export type Skip = Extract<Prepared, { kind: "skip" }>;

export function skip(reason: string): Skip {
  return { kind: "skip", reason };
}

/** The first of the fields that the account has no value for; a reason never shows a value. */
export function lack(account: AccountSettings, names: readonly string[]): Skip | undefined {
  const name = names.find((one) => account(one) === "");
  return name === undefined ? undefined : skip(`The account has no \`${name}\`.`);
}

export function jsonPost(url: string, body: JsonValue, headers: Readonly<Record<string, string>> = {}): HttpRequest {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

export function get(url: string): HttpRequest {
  return { method: "GET", url, headers: {} };
}

/** The address as it is, and parameters behind it; those without a value are left out. */
export function withQuery(url: string, parameters: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(parameters)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${encoded(name)}=${encoded(String(value))}`);
  // What stands behind a # never reaches the platform.
  const [address = ""] = url.split("#");
  if (pairs.length === 0) return address;
  return address + (!address.includes("?") ? "?" : /[?&]$/.test(address) ? "" : "&") + pairs.join("&");
}

export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Without the entries that are empty, so that a platform never reads an absent id as one. */
export function known(entries: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== ""));
}

export function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Yuan with two decimals. */
export function yuanOf(cents: number): string {
  return (cents / 100).toFixed(2);
}
