import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Names the packages whose modules are in what is delivered: their licences, for whoever gets it, and their places, for
 * bin/audit.mjs.
 */
export function nameShipped(folder, modules) {
  const places = modules.flatMap((id) => /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.[1] ?? []);
  const packages = [...new Set(places.map((place) => resolve(place)))].sort();
  const paths = packages.map((place) => relative(root, place).split(sep).join("/"));
  writeFileSync(join(folder, "packages.json"), `${JSON.stringify(paths, undefined, 2)}\n`);
  writeFileSync(join(folder, "LICENSES.txt"), packages.map(licenceOf).join(`\n${"-".repeat(80)}\n\n`));
}

function licenceOf(place) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  const file = readdirSync(place).find((entry) => /^(?:licen[sc]e|copying)/i.test(entry));
  if (!file && !license) throw new Error(`${place} has no licence.`);
  const text = file ? readFileSync(join(place, file), "utf8").trim() : `${license}, ${author?.name ?? author ?? name}`;
  return `${name} ${version}\n\n${text}\n`;
}
