import { createRequire } from "node:module";

export type Place = { country: string; province: string; city: string };

export const NOWHERE: Place = { country: "", province: "", city: "" };

type Search = { search(address: string): Place | null };
let search: Search | undefined;

/** Uses require, because `import` treats the package's default export differently in Node.js and in the test runner. */
function openData(): Search {
  const { default: Data } = createRequire(import.meta.url)("ip2region") as { default: new () => Search };
  return new Data();
}

/** The place of an address, from data in the package, so that the same address always gives the same place. */
export function placeOf(address: string): Place {
  if (address === "") return NOWHERE;
  search ??= openData();
  try {
    const found = search.search(address.startsWith("::ffff:") ? address.slice(7) : address);
    // The data names private networks in the city field, with no country.
    return found?.country ? { country: found.country, province: found.province, city: found.city } : NOWHERE;
  } catch {
    return NOWHERE;
  }
}
