import { fileURLToPath } from "node:url";

/** A script of the build, by its path there. Tests run from the sources, where there is only the build to start. */
export function builtScript(path: string): string {
  const build = import.meta.url.endsWith(".ts") ? "../dist/" : "../";
  return fileURLToPath(new URL(`${build}${path}`, import.meta.url));
}
