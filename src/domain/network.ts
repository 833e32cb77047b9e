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
