import { BlockList, isIP } from "node:net";

/** An address, or a network such as 203.0.113.0/24. */
export function isNetwork(text: string): boolean {
  const [base = "", prefix, more] = text.split("/");
  const bits = isIP(base) === 6 ? 128 : 32;
  const isPrefix = prefix === undefined || (/^\d+$/.test(prefix) && Number(prefix) <= bits);
  return isIP(base) !== 0 && more === undefined && isPrefix;
}

/** A list of networks, asked whether an address lies in one of them. */
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

/** Networks that are not the internet: this machine, the networks around it, and what has a special meaning. */
const NOT_PUBLIC = new Networks([
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23"],
  ...["2001:db8::/32", "2002::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"],
]);

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Whether an address is one of the internet at large; what is called by the word of others must be. */
export function isPublicAddress(address: string): boolean {
  const plain = MAPPED.exec(address)?.[1] ?? address;
  return isIP(plain) !== 0 && !NOT_PUBLIC.has(plain) && !(isIP(plain) === 6 && /^::ffff:/i.test(plain));
}
