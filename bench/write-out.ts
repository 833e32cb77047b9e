import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Writes a file that somebody has named, and makes the folder that it names. Nothing where the name is empty. */
export function writeOut(file: string, text: string): void {
  if (file === "") return;
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(resolve(file), text);
}
