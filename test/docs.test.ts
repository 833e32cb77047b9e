import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { apiMarkdown } from "../src/http/api-markdown.ts";
import type { OpenApi } from "../src/http/docs-page.ts";
import { sharedServer } from "./support/shared-server.ts";

const run = promisify(execFile);
const server = sharedServer();
const ROOT = new URL("../", import.meta.url);

test("docs/API.md is what the running server says of itself", async () => {
  const openApi = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  expect(readFileSync(new URL("docs/API.md", ROOT), "utf8")).toBe(apiMarkdown(openApi));
});

test("the README's first event works as written", async () => {
  const readme = readFileSync(new URL("README.md", ROOT), "utf8");
  const [, block = ""] = /<!-- run in test\/docs\.test\.ts -->\n```sh\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(block).toContain("event/collect");
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
        DATA_DIR: server.dataDir,
      },
    });
    const answers = stdout.split("\n").filter((line) => line.startsWith('{"code"'));
    expect(answers.map((line) => JSON.parse(line).code)).toEqual([0, 0, 0]);
    expect(JSON.parse(answers[1]!).extra).toEqual({});
    expect(JSON.parse(answers[2]!).data.user_list[0].click_company).toBe("tencent");
    expect(stdout).toMatch(/user\$pay_amount_sum\s+600/);
    expect(stdout).toMatch(/total\s+3\s+3\s+0\s+0/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const CURL = `#!/bin/sh
exec "$NODE" -e '
const [url, , body] = process.argv.slice(1);
fetch(url, body ? { method: "POST", body } : {}).then((r) => r.text()).then(console.log);
' "$@"
`;
