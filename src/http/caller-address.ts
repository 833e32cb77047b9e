import { BlockList, isIP } from "node:net";

/** Who called. X-Forwarded-For is believed only as far as it was written by proxies that the settings name. */
export class CallerAddress {
  readonly #trusted = new BlockList();
  readonly #trustsAny: boolean;

  constructor(trustedProxies: readonly string[]) {
    this.#trustsAny = trustedProxies.length > 0;
    for (const proxy of trustedProxies) {
      const [address = "", prefix] = proxy.split("/");
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      if (prefix === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(prefix), family);
    }
  }

  of(peer: string | undefined, forwardedFor: string | string[] | undefined): string {
    let address = plainAddress(peer ?? "");
    if (!this.#trustsAny || forwardedFor === undefined) return address;
    const hops = [forwardedFor].flat().join(",").split(",");
    // From the nearest proxy outwards: the first address that nobody we trust vouches for is the caller.
    while (hops.length > 0 && this.#isTrusted(address)) {
      const hop = plainAddress(hops.pop()!.trim());
      if (isIP(hop) === 0) break;
      address = hop;
    }
    return address;
  }

  #isTrusted(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#trusted.check(address, family === 6 ? "ipv6" : "ipv4");
  }
}

/** A dual-stack socket shows an IPv4 caller as ::ffff:1.2.3.4. */
function plainAddress(address: string): string {
  return address.startsWith("::ffff:") ? address.slice(7) : address;
}
