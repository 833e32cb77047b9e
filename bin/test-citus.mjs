// `npm run test:citus -- --url postgres://…/db [test files]`: the tests of the database on a cluster of Citus, and those that only
// a cluster can show (test/citus), a chaos run among them. Each test file has a database of its own, which is made on
// all machines that the given one knows, and dropped afterwards. The ordinary test command needs no cluster.
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
const ALL = [
  ...["test/db", "test/postback", "test/backup/restore.test.ts", "test/lake", "test/admin", "test/citus"],
  ...["test/report/analysis", "test/report/list", "test/report/metric"],
];
const tests = rest.length > 0 ? rest : ALL;
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const { status } = spawnSync(process.execPath, [vitest, "run", ...tests], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, TEST_CITUS_URL: url },
});
process.exit(status ?? 1);
