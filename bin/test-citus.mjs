// `npm run test:citus -- --url postgres://…/db`: the tests of the database on a cluster of Citus, each test file in a database of its own
// that is made on all machines that the given one knows. The ordinary test command needs no cluster.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [flag, url, ...rest] = process.argv.slice(2);
if (flag !== "--url" || !url) {
  console.error(
    "Name the coordinator and a database whose nodes are to be used: npm run test:citus -- --url postgres://…/db",
  );
  process.exit(2);
}
const tests = rest.length > 0 ? rest : ["test/db", "test/postback"];
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const { status } = spawnSync(process.execPath, [vitest, "run", ...tests], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, TEST_CITUS_URL: url },
});
process.exit(status ?? 1);
