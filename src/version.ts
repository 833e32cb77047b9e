import { existsSync, readFileSync } from "node:fs";
import { PACKAGE } from "./package-folder.ts";

export const VERSION = (JSON.parse(readFileSync(new URL("package.json", PACKAGE), "utf8")) as { version: string })
  .version;

/** How a person calls the command line: from a clone of the repository, or from the installed package. */
export const COMMAND = existsSync(new URL("bin/cli.mjs", PACKAGE)) ? "npm run -s cli --" : "touchpoint";
