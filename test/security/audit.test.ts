import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Attempt, environment, ROOT } from "../process/launch.ts";

/** The result of our check for a given output of npm. */
async function auditOf(said: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-audit-"));
  try {
    const npm = join(folder, "npm.mjs");
    writeFileSync(npm, `process.stdout.write(${JSON.stringify(said)}); process.exitCode = 1;`);
    const attempt = new Attempt(process.execPath, [join(ROOT, "bin/audit.mjs")], {
      env: environment({ npm_execpath: npm }),
    });
    const code = await attempt.ended();
    return { code, stdout: attempt.stdout, stderr: attempt.stderr };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const reportOf = (name: string, severity: string) =>
  JSON.stringify({
    vulnerabilities: { [name]: { name, severity, range: "<2.0.0", nodes: [`node_modules/${name}`] } },
    metadata: { vulnerabilities: { [severity]: 1 } },
  });

test.each(["high", "critical"])("a %s vulnerability fails, and is named", async (severity) => {
  const result = await auditOf(reportOf("fastify", severity));
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toBe(`fastify <2.0.0: a vulnerability, ${severity}.\n`);
});

test.each(["moderate", "low"])("a %s vulnerability does not fail", async (severity) => {
  const result = await auditOf(reportOf("fastify", severity));
  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("No known") });
});

test.each([
  { name: "find-my-way", where: "in the bundle because another package needs it", code: 1 },
  { name: "ip2region", where: "installed beside the bundle", code: 1 },
  { name: "vitest", where: "only used by developers", code: 0 },
])("a vulnerability of a package that is $where ends with $code", async ({ name, code }) => {
  expect((await auditOf(reportOf(name, "critical"))).code).toBe(code);
});

test.each([
  [
    "is away",
    JSON.stringify({ message: "request to https://registry.npmjs.org failed", error: {} }),
    /registry\.npmjs\.org failed/,
  ],
  ["says nothing", "", /no answer/],
  ["says something else", "<html>", /no answer/],
])("a registry that %s fails nothing, but the output says that nothing was checked", async (_, said, words) => {
  const { code, stdout } = await auditOf(said);
  expect(code).toBe(0);
  expect(stdout).toMatch(/nothing was checked/);
  expect(stdout).toMatch(words);
});
