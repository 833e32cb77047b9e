import { readFileSync } from "node:fs";

/** package.json, seen from dist/src or from src. */
const FILE = new URL(import.meta.url.includes("/dist/") ? "../../package.json" : "../package.json", import.meta.url);

export const VERSION = (JSON.parse(readFileSync(FILE, "utf8")) as { version: string }).version;
