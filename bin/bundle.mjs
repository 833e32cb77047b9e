// Bundles what is delivered: the server with its threads, the command line and the client, together with the packages that they
// use. Finding, opening and linking some seven hundred modules took more than half of a start.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { nameShipped } from "./shipped.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const finished = join(root, "dist", "bundle");
// The names of modules in the bundle are relative to this folder (src/stack-names.ts).
process.chdir(root);
/** Gets its name once it is complete: an interrupted build leaves no half of a program. */
const folder = `${finished}.${process.pid}`;
for (const name of readdirSync(dirname(finished)).filter((entry) => /^bundle\.\d+$/.test(entry)))
  rmSync(join(dirname(finished), name), { recursive: true, force: true });

/** The server, with the threads that its modules start as a script beside themselves. */
const SERVER = [
  ...[
    "main",
    "apply/worker",
    "apply/entry/decode-worker",
    "backup/backup-worker",
    "journal/disk-worker",
    "lake/engine-worker",
  ],
  ...["intake/body/judge-worker", "intake/body/large-body-worker"],
];
/** A command loads only its own files, so the command line shares none with the server, which loads few and large ones. */
const COMMANDS = ["cli"];
const CLIENT = ["client/report-client"];

/**
 * Packages that are not bundled: one that pg uses where it is installed, and the columnar engine, which is native. Data and
 * binaries are found when they are needed.
 */
const EXTERNAL = ["pg-native", "@duckdb/node-api"];

const server = await pack(SERVER, "cjs");
const commands = await pack(COMMANDS, "cjs");
const client = await pack(CLIENT, "es");
writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
copyFileSync(join(root, "bin", "load.cjs"), join(folder, "load.js"));
for (const { fileName, name } of [...server, ...commands].filter(({ isEntry }) => isEntry)) startBy(name, fileName);
chmodSync(join(folder, "cli.js"), 0o755);
const modules = [...server, ...commands, ...client].flatMap(({ moduleIds }) => moduleIds);
nameShipped(folder, modules);
compile([...server, ...commands]);
rmSync(finished, { recursive: true, force: true });
renameSync(folder, finished);

/** Bundles scripts of src into files whose names contain a digest of their content, so that no bytecode fits another file. */
async function pack(scripts, format) {
  const isClient = format === "es";
  const names = isClient ? "[name].mjs" : "[name]-[hash].js";
  const { output } = await build({
    configFile: false,
    root,
    logLevel: "error",
    ssr: { noExternal: true, external: EXTERNAL },
    // pg asks for it, to learn whether it runs at Cloudflare. Node.js 20 has none, and pg's other way of asking loads all of
    // `fetch`: an eighth of a start, in each thread.
    // The client library of S3 would warn each process that later versions of it will not run on Node.js 20: this one does.
    define: {
      navigator: JSON.stringify({ userAgent: "Node.js" }),
      "process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": '"true"',
    },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      copyPublicDir: false,
      minify: false,
      target: "node20",
      rolldownOptions: {
        input: Object.fromEntries(scripts.map((script) => [basename(script), join(root, "src", `${script}.ts`)])),
        // What is loaded from bytecode cannot `import()`, so packages that do it with modules of Node.js `require` them.
        output: { format, entryFileNames: names, chunkFileNames: names, comments: false, dynamicImportInCjs: false },
      },
    },
  });
  assertWhole(output);
  return output;
}

/** Refuses a bundle that would look for a package when it runs. */
function assertWhole(output) {
  const own = new Set([...output.map(({ fileName }) => fileName), ...EXTERNAL, ...builtinModules]);
  const missing = output.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  const strange = missing.filter((id) => !id.startsWith("node:") && !own.has(id));
  if (strange.length > 0) throw new Error(`Not bundled: ${[...new Set(strange)].join(", ")}.`);
}

/** Writes the script that a process or a thread is started with. */
function startBy(name, fileName) {
  const head = name === "cli" ? "#!/usr/bin/env node\n" : "";
  writeFileSync(join(folder, `${name}.js`), `${head}require("./load.js").load("${fileName}");\n`);
}

/** Leaves bytecode, in a process of its own: compiling changes the flags of V8. */
function compile(output) {
  const files = output.map(({ fileName }) => fileName);
  const { status } = spawnSync(process.execPath, [join(root, "bin", "compile.mjs"), folder, ...files], {
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error("The bundle could not be compiled.");
}
