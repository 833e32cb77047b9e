import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withModuleNames } from "../src/stack-names.ts";
import { Attempt, BUNDLE, environment, START } from "./process/launch.ts";

/** The place of a line in the bundle's file of the server. */
function placeOf(line: string): string {
  const [file = ""] = readdirSync(BUNDLE).filter((name) => /^main-.*\.js$/.test(name));
  const number = readFileSync(join(BUNDLE, file), "utf8").split("\n").indexOf(line) + 1;
  expect(number, `the line of ${line}`).toBeGreaterThan(0);
  return `${file}:${number}:7`;
}

test("a stack from the bundle names the modules of its functions", () => {
  const place = placeOf("async function makeDemoApp(running) {");
  expect(withModuleNames(`Error: no\n    at async makeDemoApp (dist/bundle/${place})\n    at node:fs:1:2`)).toBe(
    `Error: no\n    at async makeDemoApp (src/main.ts in ${place})\n    at node:fs:1:2`,
  );
});

test("a stack without a file of the bundle, or with one that is gone, stays as it is", () => {
  for (const place of ["/app/src/serve.ts:3:4", "dist/bundle/main-12345678.js:3:4"]) {
    const stack = `Error: no\n    at serve (${place})`;
    expect(withModuleNames(stack)).toBe(stack);
  }
});

test("a start that fails for an unknown reason names our modules", async () => {
  // A folder that can be neither made nor found.
  const attempt = new Attempt("sh", START, { env: environment({ DATA_DIR: "/dev/null/data" }) });
  expect(await attempt.ended()).toBe(1);
  expect(attempt.stderr).toMatch(/at .*serve \(src\/serve\.ts in [\w-]+\.js:\d+:\d+\)/);
});
