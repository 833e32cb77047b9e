import { readFileSync } from "node:fs";
import { PACKAGE } from "./package-folder.ts";

/** A place in the bundle, as bin/load.cjs names its files: file, line and column. */
const PLACE = /dist\/bundle\/([\w-]+\.js):(\d+):(\d+)/g;
const BEGINNING = /^\/\/ ((?:src|node_modules)\/\S+)$/;

/** A module of a file of the bundle, and the line of the comment that it begins with. */
type Part = { line: number; module: string };
const partsByFile = new Map<string, readonly Part[]>();

/** The stack with the names of modules: a file of the bundle holds many, each behind a comment with its path. */
export function withModuleNames(stack: string): string {
  return stack.replace(PLACE, (place, file: string, line: string, column: string) => {
    const module = partsOf(file).findLast((part) => part.line < Number(line))?.module;
    return module === undefined ? place : `${module} in ${file}:${line}:${column}`;
  });
}

function partsOf(file: string): readonly Part[] {
  const parts = partsByFile.get(file) ?? readParts(file);
  partsByFile.set(file, parts);
  return parts;
}

/** None if the file is gone: a stack that names the bundle is better than an error about an error. */
function readParts(file: string): Part[] {
  try {
    const lines = readFileSync(new URL(`dist/bundle/${file}`, PACKAGE), "utf8").split("\n");
    return lines.flatMap((text, index) => {
      const module = BEGINNING.exec(text)?.[1];
      return module === undefined ? [] : [{ line: index + 1, module }];
    });
  } catch {
    return [];
  }
}
