// Runs the bundle beside it, NAME.code for NAME.cjs, with the machine code that an earlier run has left there. The first run to
// end leaves it: by then everything that a start needs has been compiled. V8 itself refuses code of another source or version.
const { existsSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { threadId } = require("node:worker_threads");
const { Script } = require("node:vm");

const bundle = __filename.replace(/cjs$/, "code");
const compiled = __filename.replace(/cjs$/, "compiled");
const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined;
const source = `(function (exports, require, module) {${readFileSync(bundle, "utf8")}\n})`;
const script = new Script(source, { filename: bundle, cachedData });
script.runInThisContext()(exports, require, module);
if (cachedData === undefined)
  process.on("exit", () => {
    if (existsSync(compiled)) return;
    const unfinished = `${compiled}.${process.pid}.${threadId}`;
    writeFileSync(unfinished, script.createCachedData());
    renameSync(unfinished, compiled);
  });
