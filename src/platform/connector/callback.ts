import type { AccountField } from "./connector.ts";
import { type Skip, skip } from "./prepared.ts";

export const CALLBACK_HOSTS = "callback_hosts";

export function callbackHostsField(hosts: string): AccountField {
  return {
    name: CALLBACK_HOSTS,
    hint: "Hosts that a delivered callback may lead to: full names, separated by commas.",
    fallback: hosts,
  };
}

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const ENCODED = /^https?%3a/i;

/** Whether a callback is a whole address rather than a token. */
export function isAddress(callback: string): boolean {
  return SCHEME.test(callback) || ENCODED.test(callback);
}

export type Address = { kind: "address"; url: string } | Skip;

export function hostsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(",")
    .map((host) => host.trim())
    .filter((host) => host !== "");
}

/**
 * The delivered address, unchanged. Anyone can call a monitoring link with any address in it, so only the platform's
 * hosts are allowed: otherwise a forged click could make the server call any address. Hosts must match by their full
 * name, because some subdomains of a large company belong to other people.
 */
export function addressOf({ callback, hosts }: { callback: string; hosts: string }): Address {
  if (callback === "") return skip("The touch brought no callback.");
  const text = decoded(callback);
  if (/[\s\u0000-\u001f]/.test(text) || !URL.canParse(text)) return skip("The callback is not an http address.");
  const { protocol, username, password, hostname, host } = new URL(text);
  if (!["http:", "https:"].includes(protocol) || username !== "" || password !== "") {
    return skip("The callback is not an http address.");
  }
  const name = hostname.replace(/\.$/, "");
  return hostsOf(hosts).some((one) => one === name || one === host)
    ? { kind: "address", url: text }
    : skip("The callback's host is not one of the platform's.");
}

/** Decodes a callback address, which some platforms deliver still encoded. */
function decoded(callback: string): string {
  if (!ENCODED.test(callback)) return callback;
  try {
    return decodeURIComponent(callback);
  } catch {
    return callback;
  }
}

/** The token alone, even when it came inside a whole address. */
export function callbackToken(callback: string): string {
  const text = decoded(callback);
  if (!SCHEME.test(text) || !URL.canParse(text)) return text;
  return new URL(text).searchParams.get("callback") || text;
}
