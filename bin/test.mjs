// `npm test`: types, style, known vulnerabilities in dependencies, then every test, on a real PostgreSQL, with a real
// nats-server and in a real browser. Stops at the first stage that fails. `npm test -- --changed [BASE]` runs only the tests
// touched by the changes since a commit (HEAD by default); other arguments are passed on to vitest.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { changedTests } from "./changed-tests.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const given = process.argv.slice(2);
const tests = given[0] === "--changed" ? testsOfChange(given.slice(1)) : given;
const stages = [
  // Each checker works out the shared types again: four of them, the default, take twice the processor time of one.
  ["types", ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--checkers", "1"]],
  ["types of the console", ["node_modules/typescript/bin/tsc", "-p", "web/tsconfig.json", "--checkers", "1"]],
  ["style", ["node_modules/@biomejs/biome/bin/biome", "check", "."]],
  ["dependencies", ["bin/audit.mjs"]],
  ["browser", ["bin/browser.mjs"]],
  ["log server", ["bin/nats.mjs"]],
  ["tests", ["node_modules/vitest/vitest.mjs", "run", ...tests]],
];

for (const [name, [script, ...args]] of stages) {
  console.log(`\n── ${name}`);
  const started = Date.now();
  const result = spawnSync(process.execPath, [join(root, script), ...args], {
    cwd: root,
    stdio: "inherit",
  });
  if (result.status !== 0) {
    console.error(`── ${name} failed`);
    process.exit(result.status ?? 1);
  }
  console.log(`── ${name} passed in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

function testsOfChange(named) {
  const [base, options] = named[0] && !named[0].startsWith("-") ? [named[0], named.slice(1)] : ["HEAD", named];
  return [...changedTests(root, base), ...options];
}
