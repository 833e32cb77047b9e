import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { Networks } from "../domain/network.ts";
import { LIMITS } from "../limits.ts";

/** The caller's address. X-Forwarded-For is believed only as far as the trusted proxies of the settings wrote it. */
export class CallerAddress {
  readonly #trusted: Networks;

  constructor(trustedProxies: readonly string[]) {
    this.#trusted = new Networks(trustedProxies);
  }

  /** Whether the peer is a trusted proxy, whose forwarding headers are believed. */
  trusts(peer: string | undefined): boolean {
    return this.#trusted.has(plainAddress(peer ?? ""));
  }

  of(peer: string | undefined, forwardedFor: string | string[] | undefined): string {
    let address = plainAddress(peer ?? "");
    if (this.#trusted.isEmpty || forwardedFor === undefined) return address;
    const hops = [forwardedFor].flat().join(",").split(",");
    // From the nearest proxy outwards: the first address that is not a trusted proxy is the caller.
    while (hops.length > 0 && this.#trusted.has(address)) {
      const hop = plainAddress(hops.pop()!.trim());
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  }
}

export function callerOf({ caller }: { caller: CallerAddress }, request: FastifyRequest): string {
  return caller.of(request.raw.socket.remoteAddress, request.headers["x-forwarded-for"]);
}

export function userAgentOf(request: FastifyRequest): string {
  return (request.headers["user-agent"] ?? "").slice(0, LIMITS.propertyTextBytes);
}

/** A dual-stack socket shows an IPv4 caller as ::ffff:1.2.3.4. */
function plainAddress(address: string): string {
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}
