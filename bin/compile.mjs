// Leaves bytecode for files of the bundle (bin/load.cjs): `node bin/compile.mjs FOLDER FILE…`. All functions are compiled,
// because only a run could tell which of them a start needs.
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

const [folder, ...files] = process.argv.slice(2);
const { COMPILED, scriptOf } = createRequire(import.meta.url)(join(folder, "load.js"));

mkdirSync(COMPILED, { recursive: true });
for (const file of files) {
  setFlagsFromString("--no-lazy");
  const script = scriptOf(file);
  // Back to the flags with which the bytecode will be loaded.
  setFlagsFromString("--lazy");
  writeFileSync(join(COMPILED, file), script.createCachedData());
}
