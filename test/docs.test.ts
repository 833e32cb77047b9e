import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTencent } from "../sim/platforms/tencent.ts";
import { apiMarkdown } from "../src/cli/report/api-markdown.ts";
import { embeddedConnection, type LocalConnection } from "../src/db/engine/embedded-role.ts";
import { storeAccount } from "../src/db/platform-account.ts";
import type { OpenApi } from "../src/http/docs-page.ts";
import { metricsMarkdown } from "../src/report/metric/metrics-markdown.ts";
import { openVault } from "../src/vault.ts";
import { ACCESS } from "./cost/stage.ts";
import { untilTodayLasts } from "./support/midnight.ts";
import { cleanUp, TouchpointProcess } from "./support/touchpoint.ts";

const run = promisify(execFile);
const ROOT = new URL("../", import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

let server: TouchpointProcess;
/** Replacements for commands that not every machine has, or that take long to start. */
const commands = mkdtempSync(join(tmpdir(), "touchpoint-docs-"));
beforeAll(async () => {
  // Only the commands pull costs: an account is pulled by one process at a time.
  server = await TouchpointProcess.start({ env: { ROLES: "http,apply,refresh,postback" } });
  writeFileSync(join(commands, "npm"), NPM);
  if (!(process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, "curl")))) {
    writeFileSync(join(commands, "curl"), CURL);
    chmodSync(join(commands, "curl"), 0o755);
  }
  chmodSync(join(commands, "npm"), 0o755);
});
afterAll(async () => {
  await server.kill();
  await cleanUp(server.dataDir);
  rmSync(commands, { recursive: true, force: true });
});

/** Runs a script as a reader would whose server is at another address; returns its output. */
async function shell(script: string, variables: Record<string, string> = {}): Promise<string> {
  const env = {
    PATH: `${commands}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: process.env.HOME ?? "",
    URL: server.url,
    DATA_DIR: server.dataDir,
    PLATFORM_PRIVATE_NETWORKS: "allow",
    ...variables,
  };
  const { stdout } = await run("sh", ["-e", "-c", script], { cwd: ROOT, env });
  return stdout;
}

const blocksOf = (path: string, before = "") =>
  [...textOf(path).matchAll(new RegExp(`${before}\`\`\`sh\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block]) => block!);

test("docs/API.md matches the running server", async () => {
  const openApi = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  expect(textOf("docs/API.md")).toBe(apiMarkdown(openApi));
});

test("docs/METRICS.md matches the catalogue", () => {
  expect(textOf("docs/METRICS.md")).toBe(metricsMarkdown());
});

const NEXT = "\n@@@ next block @@@\n";

/** Runs all executable blocks of the README in one shell; returns the output of each. */
async function readmeRun(): Promise<string[]> {
  const blocks = blocksOf("README.md", "<!-- run in test/docs\\.test\\.ts -->\\n");
  await untilTodayLasts();
  const printed = await shell(blocks.join(`printf '${NEXT.replaceAll("\n", "\\n")}'\n`));
  return printed.split(NEXT);
}

test("the README's blocks run as printed, in one shell, and print what the text says", async () => {
  const [first, attributed, reported, told] = await readmeRun();
  const codes = (printed: string) => [...printed.matchAll(/\{"code":(\d+)/g)].map(([, code]) => Number(code));
  expect([first, attributed, reported, told].map((printed) => codes(printed!))).toEqual([[0, 0, 0], [0, 0, 0], [], []]);

  expect(first).toMatch(/AdPlatform +natural\n/);
  expect(first).toMatch(/properties +\{"vip":true\}\n/);
  expect(first).toMatch(/total +2 +2 +0 +0/);

  expect(attributed).toContain("https://track.example.com/event_center/api/v1/event/click/?app_id=");
  expect(attributed).toContain("Attributed to kuaishou by click_key.");
  expect(attributed).toContain("0 of 2 users and 0 cents of revenue would move");
  expect(attributed).toMatch(/\(all\) +14d/);

  expect(reported).toMatch(/autumn2026launch +12\.5 +1 +30 +2\.4\n/);
  expect(reported).toMatch(/\n- +12\.5 +2 +30 +2\.4\n/);
  expect(reported).toMatch(/,lin,kuaishou,.*,autumn2026launch,.*,order-1,/);
  expect(reported).toMatch(/value +2\.4/);

  expect(told).toMatch(/retention_1 +twice +100%/);
  expect(told).toMatch(/kuaishou +1 +1500 +0\n/);
  expect(told).toMatch(/value +factor:0\.5\n/);
  expect(told).toMatch(/callback_hosts +ad\.partner\.gifshow\.com/);
  expect(told).toContain("0 postbacks will be sent again.");
  expect(told).toMatch(/secret +[\w-]{32}\n/);
});

test("the blocks of docs/BI.md run as printed, and their role answers its first queries", async () => {
  const app = await server.appWith(["player-1"]);
  const printed = await shell(blocksOf("docs/BI.md").join(""), { APP: String(app.appId), HOME: commands });
  expect(printed).toMatch(/^role +touchpoint_bi\nschema +touchpoint_bi\napp_id +\(all\)\nviews +apps, users, orders/);
  expect(printed).toMatch(new RegExp(`role +game_bi\n.*\napp_id +${app.appId}\n`));
  expect(printed).toContain("The views and the role game_bi are gone.");
  const { kind: _, ...local } = embeddedConnection(server.dataDir) as LocalConnection;
  const password = readFileSync(join(commands, "bi-password"), "utf8").trim();
  const client = new pg.Client({ ...local, user: "touchpoint_bi", password });
  await client.connect();
  try {
    const queries = [...textOf("docs/BI.md").matchAll(/```sql\n([\s\S]*?)```/g)].map(([, query]) => query!);
    expect(queries).toHaveLength(3);
    // What Grafana puts in place of its macros.
    for (const query of queries)
      await client.query(query.replaceAll(/\$__time(?:From|To)\(\)/g, "'2026-11-01T00:00:00Z'"));
  } finally {
    await client.end();
  }
});

test("the blocks of docs/OPERATIONS.md run as printed", async () => {
  const app = await server.appWith(["player-1"]);
  const tencent = await startTencent({ clock: Date.now, accounts: ["123"] });
  const pool = server.database();
  await storeAccount(
    pool,
    openVault({ dataDir: server.dataDir, secretKey: "" }),
    {
      appId: app.appId,
      advertiserId: "123",
      postbacks: false,
      costs: true,
      ratePerS: 0,
      tokenExpiresAtMs: null,
      refreshExpiresAtMs: null,
      authorisationId: null,
      lastError: "",
      lastErrorAtMs: null,
      ...ACCESS.tencent(tencent),
    },
    Date.now(),
  );
  await pool.end();
  const isForStopped = (block: string) => /--all\b|secret rotate/.test(block);
  const blocks = blocksOf("docs/OPERATIONS.md");
  expect(blocks.filter(isForStopped)).toHaveLength(2);
  const variables = { APP: String(app.appId), BACKUP: join(commands, "backup") };
  const running = await shell(blocks.filter((block) => !isForStopped(block)).join(""), variables);
  expect(running).toContain("0 of 0 entries replayed, 0 still set aside.");
  expect(running).toContain("Erased.");
  expect(await server.stop()).toBe(0);
  const stopped = await shell(blocks.filter(isForStopped).join(""), variables);
  expect(stopped).toMatch(/\d+ bytes of journal applied, 0 entries set aside\./);
  expect(existsSync(join(variables.BACKUP, "manifest.json"))).toBe(true);
  await tencent.close();
});

test("the package exports the client that the README shows", async () => {
  const { exports } = JSON.parse(textOf("package.json"));
  const client = await import(new URL(exports["./client"].default, ROOT).href);
  expect(new client.ReportClient({ baseUrl: server.url, appKey: "x" })).toHaveProperty("adReport");
});

/** A short cut for `npm run -s cli --`, without the half second that npm takes. */
const NPM = `#!/bin/sh
[ "$1 $2 $3 $4" = "run -s cli --" ] || exit 64
shift 4
exec node dist/bundle/cli.js "$@"
`;

const CURL = `#!/bin/sh
exec node -e '
const [url, , body] = process.argv.slice(1);
fetch(url, body ? { method: "POST", body } : {}).then((r) => r.text()).then((text) => process.stdout.write(text));
' "$@"
`;
