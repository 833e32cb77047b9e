import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const SCRIPT = new URL("../bin/changed-tests.mjs", import.meta.url);
const ROOT = new URL("..", import.meta.url);

function testsFor(...files: string[]): string[] {
  const code = `import { testsFor } from ${JSON.stringify(SCRIPT.href)};
    console.log(JSON.stringify(testsFor(${JSON.stringify(ROOT.pathname)}, ${JSON.stringify(files)})));`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "--eval", code], { encoding: "utf8" }));
}

test.each([
  ["what imports it", "src/platform/tencent/cost.ts", ["test/platform/tencent/cost.test.ts", "test/tidy.test.ts"]],
  ["itself", "test/vault.test.ts", ["test/tidy.test.ts", "test/vault.test.ts"]],
  ["the page's own", "web/src/pages/cost/cost.tsx", ["test/tidy.test.ts", "test/web/cost.test.ts"]],
  ["the documents'", "docs/API.md", ["test/docs.test.ts", "test/tidy.test.ts"]],
  ["only the tidy test for a deleted file", "test/gone.test.ts", ["test/tidy.test.ts"]],
])("selects the tests of a changed file: %s", (_, file, tests) => {
  expect(testsFor(file)).toEqual(tests);
});

test("a fixture selects every test that uses it, and an untested file the folder that mirrors its own", () => {
  expect(testsFor("test/db/apply-stage.ts")).toContain("test/db/erasure.test.ts");
  const ofRoutes = testsFor("src/http/collect/register-routes.ts");
  expect(ofRoutes).toContain("test/http/collect/collect.test.ts");
  expect(ofRoutes.every((path) => path.startsWith("test/http/collect/") || path === "test/tidy.test.ts")).toBe(true);
});
