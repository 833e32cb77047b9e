// Packs libraries of hundreds of small files into one file each, and lets the built program load those: opening and
// linking the 373 modules of typebox took three times as long as everything else that a command loads.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const built = join(root, "dist", "src");
const vendor = join(built, "vendor");

/** What the program uses of each library. */
const LIBRARIES = { ajv: ["Ajv"], typebox: ["Type"] };

for (const [name, uses] of Object.entries(LIBRARIES)) await pack(name, uses);
for (const entry of readdirSync(built, { recursive: true, withFileTypes: true })) {
  if (entry.isFile() && entry.name.endsWith(".js") && entry.parentPath !== vendor)
    redirect(join(entry.parentPath, entry.name));
}

async function pack(name, uses) {
  const entry = join(built, `${name}.entry.mjs`);
  writeFileSync(entry, `export { ${uses.join(", ")} } from "${name}";\n`);
  const { output } = await build({
    configFile: false,
    root,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      outDir: vendor,
      emptyOutDir: false,
      copyPublicDir: false,
      minify: false,
      target: "node20",
      rolldownOptions: { output: { codeSplitting: false, entryFileNames: `${name}.js` } },
    },
  });
  rmSync(entry);
  const file = join(vendor, `${name}.js`);
  writeFileSync(file, `${licencesOf(output[0].moduleIds)}${readFileSync(file, "utf8")}`);
}

/** The licences of the packages whose code a file holds, as a comment. */
function licencesOf(modules) {
  const folders = modules.flatMap((id) => /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.[1] ?? []);
  return [...new Set(folders)]
    .map((folder) => {
      const file = readdirSync(folder).find((name) => /^licen[sc]e/i.test(name));
      if (!file) throw new Error(`${folder} has no licence.`);
      return `/*! ${relative(join(root, "node_modules"), folder)}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n*/\n`;
    })
    .join("");
}

/** Replaces the names of the libraries in the imports of a built file. */
function redirect(file) {
  const code = readFileSync(file, "utf8");
  const here = relative(dirname(file), vendor).split(sep).join("/");
  const redirected = code.replace(/^(import .* from ")([\w-]+)(";)$/gm, (line, before, name, after) =>
    name in LIBRARIES ? `${before}${here.startsWith(".") ? "" : "./"}${here}/${name}.js${after}` : line,
  );
  if (redirected !== code) writeFileSync(file, redirected);
}
