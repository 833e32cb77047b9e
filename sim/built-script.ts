import { fileURLToPath } from "node:url";

/** The path of a script in the build. Tests run from the sources, but only the build can be started. */
export function builtScript(path: string): string {
  const build = import.meta.url.endsWith(".ts") ? "../dist/" : "../";
  return fileURLToPath(new URL(`${build}${path}`, import.meta.url));
}
