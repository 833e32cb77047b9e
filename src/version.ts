import { readFileSync } from "node:fs";

/** From dist/src and from src alike, the folder of the package is where package.json is. */
const FILE = new URL(import.meta.url.includes("/dist/") ? "../../package.json" : "../package.json", import.meta.url);

export const VERSION = (JSON.parse(readFileSync(FILE, "utf8")) as { version: string }).version;
