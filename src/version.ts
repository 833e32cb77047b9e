import { existsSync, readFileSync } from "node:fs";

/** The folder of package.json, seen from dist/src or from src. */
const ROOT = new URL(import.meta.url.includes("/dist/") ? "../../" : "../", import.meta.url);

export const VERSION = (JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8")) as { version: string }).version;

/** How a person calls the command line: from a clone of the repository, or from the installed package. */
export const COMMAND = existsSync(new URL("bin/cli.mjs", ROOT)) ? "npm run -s cli --" : "touchpoint";
