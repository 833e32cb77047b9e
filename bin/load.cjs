// Loads a file of the bundle and what it requires, from the folder that this file is copied to (bin/bundle.mjs). The build has
// left bytecode for each file: compiling took half as long as everything else that a start does. V8 itself refuses bytecode of
// another version, or of a process with other flags; a file without any is compiled as usual.
const { existsSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const { Script } = require("node:vm");

const { version, platform, arch } = process;
const COMPILED = join(__dirname, `compiled-${version}-${platform}-${arch}`);
const isCompiled = existsSync(COMPILED);
const loaded = new Map();

/** What the files of the bundle get as `require`: the others come from this folder, everything else from Node.js or npm. */
const requireHere = Object.assign((id) => (id.startsWith("./") ? load(id.slice(2)) : require(id)), require);

function load(name) {
  const known = loaded.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const run = scriptOf(name, isCompiled ? bytecodeOf(name) : undefined).runInThisContext();
  run(module.exports, requireHere, module, join(__dirname, name), __dirname);
  return module.exports;
}

function scriptOf(name, cachedData) {
  const code = readFileSync(join(__dirname, name), "utf8");
  const head = "(function (exports, require, module, __filename, __dirname) {";
  // Stacks show this name. It is in the bytecode, so it must be the same wherever the package is installed.
  return new Script(`${head}${code}\n})`, { filename: `dist/bundle/${name}`, cachedData });
}

function bytecodeOf(name) {
  const file = join(COMPILED, name);
  return existsSync(file) ? readFileSync(file) : undefined;
}

module.exports = { COMPILED, bytecodeOf, load, scriptOf };
