import { BlockList, isIP } from "node:net";

/** Whether a text is an address, or a network such as 203.0.113.0/24. */
export function isNetwork(text: string): boolean {
  const [base = "", prefix, more] = text.split("/");
  const bits = isIP(base) === 6 ? 128 : 32;
  const isPrefix = prefix === undefined || (/^\d+$/.test(prefix) && Number(prefix) <= bits);
  return isIP(base) !== 0 && more === undefined && isPrefix;
}

/** A list of networks that can be asked for an address. */
export class Networks {
  readonly #blocks = new BlockList();
  readonly isEmpty: boolean;

  constructor(networks: readonly string[]) {
    this.isEmpty = networks.length === 0;
    for (const network of networks) {
      const [base = "", prefix] = network.split("/");
      const family = familyOf(base);
      this.#blocks.addSubnet(base, Number(prefix ?? (family === "ipv6" ? 128 : 32)), family);
    }
  }

  has(address: string): boolean {
    return !this.isEmpty && isIP(address) !== 0 && this.#blocks.check(address, familyOf(address));
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/** Networks outside the internet: this machine, the networks around it, and reserved ones. */
const NOT_PUBLIC = new Networks([
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23"],
  ...["2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"],
]);

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Whether an address is on the public internet. Addresses that others supply must be. */
export function isPublicAddress(address: string): boolean {
  const plain = MAPPED.exec(address)?.[1] ?? address;
  return isIP(plain) !== 0 && !NOT_PUBLIC.has(plain) && !(isIP(plain) === 6 && /^::ffff:/i.test(plain));
}

const LOOPBACK = new Networks(["127.0.0.0/8", "::1"]);

/** Whether a listener on this host is reachable from this machine only. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === "localhost" || LOOPBACK.has(host);
}

/**
 * Whether a URL's host, as the URL parser writes it, is known to be private without a look-up. The address behind a
 * name is checked when it is called.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? /(?:^|\.)localhost\.?$/.test(host) : !isPublicAddress(host);
}

/** Tells which addresses may be called: public ones, or every one when private networks are allowed. */
export function callable({ mayCallPrivate }: { mayCallPrivate: boolean }): (address: string) => boolean {
  return mayCallPrivate ? () => true : isPublicAddress;
}

/**
 * The address by which limits per caller count. One IPv6 customer has a whole /64, so its 2^64 addresses count as one.
 * An IPv4 address counts by itself, even when a dual-stack socket shows it as ::ffff:1.2.3.4.
 */
export function countedAddress(address: string): string {
  const plain = MAPPED.exec(address)?.[1] ?? address;
  if (isIP(plain) !== 6) return plain;
  // The zone of a link-local address (%eth0) does not count, and the URL parser writes every spelling in one way.
  const groups = groupsOf(new URL(`http://[${plain.split("%")[0]}]`).hostname.slice(1, -1));
  const [, , , , , mark, high = 0, low = 0] = groups;
  if (mark === 0xffff && groups.slice(0, 5).every((group) => group === 0)) {
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

/** The eight groups of an address as the URL parser writes it: hexadecimal, with at most one `::`. */
function groupsOf(address: string): number[] {
  const [head, tail] = address.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array<string>(tail === undefined ? 0 : 8 - head!.length - tail.length).fill("0");
  return [...head!, ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
}
