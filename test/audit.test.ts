import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ROOT } from "./process/launch.ts";

const folder = mkdtempSync(join(tmpdir(), "touchpoint-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the audit with a stand-in for npm whose registry knows one vulnerability. */
function auditOf(name: string, severity: string): { status: number | null; output: string } {
  const found = { name, severity, range: "*", nodes: [`node_modules/${name}`] };
  const report = { metadata: { vulnerabilities: {} }, vulnerabilities: { [name]: found } };
  const npm = join(folder, "npm.cjs");
  writeFileSync(npm, `console.log(${JSON.stringify(JSON.stringify(report))});`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, "bin/audit.mjs")], {
    env: { npm_execpath: npm },
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

test.each([
  { name: "fastify", where: "in the bundle" },
  { name: "find-my-way", where: "in the bundle, for another package" },
  { name: "ip2region", where: "beside the bundle" },
])("a severe vulnerability of a package $where fails", ({ name }) => {
  expect(auditOf(name, "high")).toEqual({ status: 1, output: `${name} *: a vulnerability, high.\n` });
});

test("a vulnerability that is not severe, or of a package that is not delivered, does not fail", () => {
  for (const { status, output } of [auditOf("fastify", "moderate"), auditOf("vitest", "critical")]) {
    expect(output).toMatch(/^No known vulnerability of \d+ packages is high or critical\.\n$/);
    expect(status).toBe(0);
  }
});
