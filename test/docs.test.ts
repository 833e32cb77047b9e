import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { calendarOf } from "../src/domain/calendar.ts";
import { apiMarkdown } from "../src/http/api-markdown.ts";
import type { OpenApi } from "../src/http/docs-page.ts";
import { metricsMarkdown } from "../src/report/metrics-markdown.ts";
import { sharedServer } from "./support/shared-server.ts";

const run = promisify(execFile);
const server = sharedServer();
const ROOT = new URL("../", import.meta.url);

test("docs/API.md is what the running server says of itself", async () => {
  const openApi = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  expect(readFileSync(new URL("docs/API.md", ROOT), "utf8")).toBe(apiMarkdown(openApi));
});

test("docs/METRICS.md is what the catalogue says", () => {
  expect(readFileSync(new URL("docs/METRICS.md", ROOT), "utf8")).toBe(metricsMarkdown());
});

const blocks = [
  ...readFileSync(new URL("README.md", ROOT), "utf8").matchAll(
    /<!-- run in test\/docs\.test\.ts -->\n```sh\n([\s\S]*?)```/g,
  ),
].map(([, block]) => block!);

/** Runs a block of the README in an app of its own; gives what it printed. */
async function runBlock(block: string): Promise<string> {
  const app = await server.createApp();
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-docs-"));
  try {
    // Not every machine has curl; this stands in for the two ways in which the README calls it.
    writeFileSync(join(folder, "curl"), CURL);
    chmodSync(join(folder, "curl"), 0o755);
    const script = block.replaceAll("npm run -s cli --", `"${process.execPath}" dist/src/cli.js`);
    const { stdout } = await run("sh", ["-e", "-c", script], {
      cwd: ROOT,
      env: {
        PATH: `${folder}:${process.env.PATH}`,
        NODE: process.execPath,
        URL: server.url,
        TOKEN: app.accessToken,
        APP: String(app.appId),
        TODAY: calendarOf(app.timeZone).dayOf(Date.now()),
        DATA_DIR: server.dataDir,
      },
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const answersIn = (stdout: string) =>
  stdout.split("\n").flatMap((line) => (/^{"(?:code|ret)"/.test(line) ? [JSON.parse(line)] : []));

test("the README's first event works as written", async () => {
  const stdout = await runBlock(blocks.find((block) => block.includes("event/collect"))!);
  const answers = answersIn(stdout);
  expect(answers.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(answers[1].extra).toEqual({});
  expect(answers[2].data.user_list[0].click_company).toBe("tencent");
  expect(stdout).toMatch(/user\$pay_amount_sum\s+600/);
  expect(stdout).toMatch(/total\s+3\s+3\s+0\s+0/);
});

test("the README's first attributed user works as written", async () => {
  const stdout = await runBlock(blocks.find((block) => block.includes("event/click"))!);
  expect(answersIn(stdout).map(({ code }) => code)).toEqual([0, 0]);
  expect(stdout).toContain("https://track.example.com/event_center/api/v1/event/click/?app_id=");
  expect(stdout).toContain("Attributed to tencent by click_key.");
  expect(stdout).toMatch(/\d of 1 users and 0 cents of revenue would move/);
  expect(stdout).toMatch(/\(all\)\s+14d/);
});

test("the README's first report works as written", async () => {
  const stdout = await runBlock(blocks.find((block) => block.includes("report ad"))!);
  expect(answersIn(stdout).map(({ code }) => code)).toEqual([0, 0]);
  expect(stdout).toMatch(/tencent\s+12\.5\s+1\s+30\s+2\.4\n/);
  expect(stdout).toMatch(/-\s+-\s+12\.5\s+1\s+30\s+2\.4\n/);
  expect(stdout).toContain(",o-3,");
  expect(stdout).toMatch(/value\s+2\.4/);
});

test("the README's first postback works as written", async () => {
  const stdout = await runBlock(blocks.find((block) => block.includes("postback rule"))!);
  expect(answersIn(stdout).map(({ code }) => code)).toEqual([0, 0]);
  expect(stdout).toMatch(/retention_1 +twice +100%/);
  expect(stdout).toMatch(/kuaishou +1 +1500 +0\n/);
  expect(stdout).toMatch(/value +factor:0\.5\n/);
  expect(stdout).toMatch(/callback_hosts +ad\.partner\.gifshow\.com /);
  expect(stdout).toContain("0 postbacks will be sent again.");
  expect(stdout).toMatch(/secret +[\w-]{32}\n/);
});

test("the client that the README shows is what the package exports", async () => {
  const { exports } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8"));
  const client = await import(new URL(exports["./client"].default, ROOT).href);
  expect(new client.ReportClient({ baseUrl: server.url, appKey: "x" })).toHaveProperty("adReport");
});

const CURL = `#!/bin/sh
exec "$NODE" -e '
const [url, , body] = process.argv.slice(1);
fetch(url, body ? { method: "POST", body } : {}).then((r) => r.text()).then(console.log);
' "$@"
`;
