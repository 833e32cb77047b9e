import type { JsonValue } from "../../domain/json.ts";
import { isPrivateHost } from "../../domain/network.ts";
import { isMacro } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { type Address, addressOf, hostsOf } from "../connector/callback.ts";
import { skip } from "../connector/prepared.ts";
import { withQuery } from "../connector/request.ts";
import { assertNoSecret } from "./given.ts";

/** Where calls go: a fixed address, or the one that the touch brought, on one of the named hosts. */
export type CallAddress = { kind: "fixed"; url: string } | { kind: "callback"; hosts: string };

/** The address of a declaration that calls what the touch brought. */
const CALLBACK_URL = "{callback}";

const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/;

export function readAddress(
  given: { url?: JsonValue; callback_hosts?: JsonValue },
  { mayCallPrivate }: { mayCallPrivate: boolean },
): CallAddress {
  const { url, callback_hosts: hosts } = given;
  if (typeof url !== "string" || url === "") throw bad(`url is missing: an address, or ${CALLBACK_URL}.`);
  if (url !== CALLBACK_URL) {
    if (hosts !== undefined) throw bad(`callback_hosts belong to the url ${CALLBACK_URL} alone.`);
    const hostname = assertFixed(url);
    if (!mayCallPrivate) assertPublic("url", hostname);
    return { kind: "fixed", url };
  }
  if (typeof hosts !== "string" || hostsOf(hosts).length === 0)
    throw bad(
      `callback_hosts is missing: the platform's hosts that ${CALLBACK_URL} may lead to, full names separated by commas. Anyone can call a link with any address in it.`,
    );
  const wrong = hostsOf(hosts).find((host) => !HOST.test(host) || !URL.canParse(`http://${host}`));
  if (wrong !== undefined) throw bad(`callback_hosts: ${JSON.stringify(wrong)} is not a full host name.`);
  if (!mayCallPrivate)
    for (const host of hostsOf(hosts)) assertPublic("callback_hosts", new URL(`http://${host}`).hostname);
  return { kind: "callback", hosts };
}

/** Returns the host. It must be fixed, and not depend on a user's data. */
function assertFixed(url: string): string {
  if (url.length > LIMITS.addressLength) throw bad(`url must not be longer than ${LIMITS.addressLength} characters.`);
  if (/[{}]/.test(url))
    throw bad(`url is fixed, or ${CALLBACK_URL} alone: other placeholders belong in query, headers, form or json.`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw bad("url must be an address that begins with http:// or https://.");
  const { hostname, username, password, searchParams } = new URL(url);
  if (username !== "" || password !== "") throw bad("url must not hold a name or a password.");
  for (const name of searchParams.keys()) assertNoSecret(`url, ${name}`, name);
  return hostname;
}

function assertPublic(where: string, hostname: string): void {
  if (!isPrivateHost(hostname)) return;
  throw bad(`${where}: ${hostname} is an address of a private network; PLATFORM_PRIVATE_NETWORKS=allow allows them.`);
}

/**
 * The delivered address, for a call that carries a secret or a signature: anyone who calls a link chooses scheme and port,
 * so the call goes only over TLS, and to another port than the usual one only if callback_hosts names it. A host in a
 * private network, which is called only where the operator allows that, may do without TLS.
 */
export function guardedAddressOf({ callback, hosts }: { callback: string; hosts: string }): Address {
  const address = addressOf({ callback, hosts });
  if (address.kind === "skip") return address;
  const { protocol, host, hostname } = new URL(address.url);
  if (protocol !== "https:" && !isPrivateHost(hostname))
    return skip("The callback is not an https address, and the call carries a secret or a signature.");
  return hostsOf(hosts).some((one) => new URL(`${protocol}//${one}`).host === host)
    ? address
    : skip("callback_hosts does not name the callback's port, and the call carries a secret or a signature.");
}

/** Where secrets may go: origins of fixed addresses, hosts of delivered ones. */
export function targetsOf(address: CallAddress): string[] {
  return address.kind === "fixed" ? [new URL(address.url).origin] : hostsOf(address.hosts);
}

/**
 * The address with parameters: they replace those of the same name, and what the platform left as a macro for us to fill
 * in is removed. Everything else stays byte by byte, because the platform may have signed it.
 */
export function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const [address = ""] = url.split("#");
  const at = address.indexOf("?");
  if (at < 0) return withQuery(address, parameters);
  const kept = address
    .slice(at + 1)
    .split("&")
    .filter((pair) => {
      const [name = "", value = ""] = pair.split("=").map(decoded);
      return pair !== "" && !Object.hasOwn(parameters, name) && !isMacro(value);
    });
  return withQuery(address.slice(0, at) + (kept.length > 0 ? `?${kept.join("&")}` : ""), parameters);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // No encoding at all, so the text itself is the name or value.
    return text;
  }
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
