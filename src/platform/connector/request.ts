import type { JsonValue } from "../../domain/json.ts";
import type { HttpRequest } from "./connector.ts";

type Headers = Readonly<Record<string, string>>;

export function get(url: string, headers: Headers = {}): HttpRequest {
  return { method: "GET", url, headers };
}

export function jsonPost(url: string, body: JsonValue, headers: Headers = {}): HttpRequest {
  return jsonTextPost(url, JSON.stringify(body), headers);
}

/** A POST whose body is already JSON text. */
export function jsonTextPost(url: string, body: string, headers: Headers = {}): HttpRequest {
  return { method: "POST", url, headers: { "content-type": "application/json", ...headers }, body };
}

/** The address with parameters appended; parameters without a value are left out. */
export function withQuery(url: string, parameters: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(parameters)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${encoded(name)}=${encoded(String(value))}`);
  // The part after a # never reaches the platform.
  const [address = ""] = url.split("#");
  if (pairs.length === 0) return address;
  return address + (!address.includes("?") ? "?" : /[?&]$/.test(address) ? "" : "&") + pairs.join("&");
}

export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** An id as JSON. Platforms expect numbers, and a JavaScript number would lose digits beyond 2^53. */
export function idJson(id: string): string {
  return /^[1-9]\d*$/.test(id) ? id : JSON.stringify(id);
}

/** A JSON object of values that are already JSON. */
export function objectJson(values: Readonly<Record<string, string>>): string {
  return `{${Object.entries(values)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(",")}}`;
}
