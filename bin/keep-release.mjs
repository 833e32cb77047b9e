// Keeps what was just built as the release that the next one is tested beside (test/cluster/upgrade.test.ts). Run once
// for each release, after its version is set; it takes the place of the release before.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = join(root, "test", "release");

const paths = ["package.json", "bin/start.sh", ...filesOf("dist/bundle"), ...filesOf("migrations")];
const release = Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
const text = Buffer.from(JSON.stringify(release));
const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants;
const params = { [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: text.length };
const packed = brotliCompressSync(text, { params });
for (const name of readdirSync(folder)) rmSync(join(folder, name));
writeFileSync(join(folder, `${version}.json.br`), packed);
console.log(`Kept ${paths.length} files of ${version} in ${packed.length} bytes.`);

function filesOf(path) {
  const entries = readdirSync(join(root, path), { withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => `${path}/${name}`);
}
