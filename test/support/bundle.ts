import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "vite";
import { BUNDLE, ROOT } from "../process/launch.ts";

const BUILT = join(ROOT, "dist/src");
const LOADER = join(ROOT, "test/support/bundle-loader.cjs");

/** The server with the threads that it starts, and the command line. */
const SCRIPTS = [
  ...["main.js", "cli.js", "apply/worker.js", "backup/backup-worker.js"],
  ...["journal/disk-worker.js", "intake/body/large-body-worker.js"],
];

/** The scripts that are started as processes. */
const ENTRIES = new Set(["main.js", "cli.js"].map((script) => join(BUILT, script)));

/**
 * Bundles the built server and each of its threads, with their imports, into one file each. A server of five hundred modules
 * spends half of its start on finding and opening them, and a quarter of the rest on compiling: the tests start some two
 * hundred servers and as many commands.
 */
export async function bundleServer(): Promise<void> {
  const state = stateOfBuild();
  const stamp = join(BUNDLE, ".bundled");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === state) return;
  // Gets its name once it is complete: another run may be starting servers from the existing one.
  const unfinished = `${BUNDLE}.${process.pid}`;
  for (const script of SCRIPTS) {
    await pack(script, unfinished);
    copyFileSync(LOADER, join(unfinished, script.replace(/js$/, "cjs")));
  }
  writeFileSync(join(unfinished, ".bundled"), state);
  rmSync(BUNDLE, { recursive: true, force: true });
  renameSync(unfinished, BUNDLE);
}

async function pack(script: string, folder: string): Promise<void> {
  await build({
    configFile: false,
    root: ROOT,
    logLevel: "error",
    plugins: [keepAddresses],
    // PostgreSQL's binaries are looked up when the server starts, in the packages for the system it runs on.
    ssr: { noExternal: true, external: ["pg-native"] },
    build: {
      ssr: join(BUILT, script),
      outDir: dirname(join(folder, script)),
      emptyOutDir: false,
      copyPublicDir: false,
      minify: false,
      target: "node20",
      rolldownOptions: { output: { codeSplitting: false, format: "cjs", entryFileNames: "[name].code" } },
    },
  });
}

/**
 * A module finds its files (migrations, console) at its original place, and its threads in the bundle. A script awaits in a
 * function, which the format of the bundle demands.
 */
const keepAddresses: Plugin = {
  name: "keep-addresses",
  enforce: "pre",
  transform(code, id) {
    if (!id.startsWith(BUILT)) return null;
    if (ENTRIES.has(id)) return { code: awaitInside(code), map: null };
    if (!code.includes("import.meta.url")) return null;
    const here = JSON.stringify(pathToFileURL(id).href);
    const thread = /new URL\("\.\/([\w-]*worker\.js)", import\.meta\.url\)/g;
    const packed = code.replace(thread, (_, file) => {
      const address = pathToFileURL(join(BUNDLE, relative(BUILT, join(dirname(id), file.replace(/js$/, "cjs")))));
      return `new URL(${JSON.stringify(address.href)})`;
    });
    return { code: packed.replaceAll("import.meta.url", here), map: null };
  },
};

function awaitInside(script: string): string {
  const code = script.replace(/^#!.*/, "");
  const imports = code.slice(0, code.indexOf("\n", code.lastIndexOf("\nimport ") + 1));
  return `${imports}\n(async () => {${code.slice(imports.length)}\n})();`;
}

/** What the bundle is made of: scripts, names, sizes and times of the built files, and the versions of the packages. */
function stateOfBuild(): string {
  const files = readdirSync(BUILT, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
  const lines = files.sort().map((file) => {
    const { size, mtimeMs } = statSync(join(BUILT, file));
    return `${file} ${size} ${mtimeMs}`;
  });
  return [
    ...SCRIPTS,
    ...lines,
    ...[LOADER, join(ROOT, "package-lock.json")].map((file) => readFileSync(file, "utf8")),
  ].join("\n");
}
