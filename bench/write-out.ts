import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Writes a file and creates its folder. Does nothing if the name is empty. */
export function writeOut(file: string, text: string): void {
  if (file === "") return;
  mkdirSync(dirname(resolve(file)), { recursive: true });
  writeFileSync(resolve(file), text);
}
