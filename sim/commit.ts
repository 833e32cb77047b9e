import { execFileSync } from "node:child_process";

/** The commit that is run, for pages that say how their figures were made. */
export function commitOf(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
