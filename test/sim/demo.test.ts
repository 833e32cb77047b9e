import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { portOf } from "../../sim/arguments.ts";
import { temporaryFolder } from "../../sim/market/data-folder.ts";
import { eventually } from "../support/patience.ts";
import { Touchpoint } from "../support/touchpoint.ts";

test.each([
  [{ port: "9001" }, { PORT: "9002" }, 9001],
  [{}, { PORT: " 9002 " }, 9002],
  [{ port: "0" }, {}, 0],
  [{}, { PORT: "" }, 8080],
  [{}, {}, 8080],
])("with the options %j and the environment %j the demo listens on port %i", (given, env, port) => {
  expect(portOf(given, env)).toBe(port);
});

test.each([
  [{ port: "65536" }, {}],
  [{}, { PORT: "http" }],
])("the port of %j and %j is refused", (given, env) => {
  expect(() => portOf(given, env)).toThrow(/port must be a whole number/);
});

const folder = temporaryFolder();
let demo: ChildProcess;
let output = "";
let servedMs: number;

beforeAll(async () => {
  const script = fileURLToPath(new URL("../../dist/sim/market/demo.js", import.meta.url));
  const options = ["--days", "1", "--people", "5", "--rate", "1200", "--data-dir", folder.dataDir];
  demo = spawn(process.execPath, [script, ...options], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  demo.stdout!.on("data", (chunk) => {
    output += String(chunk);
  });
  await eventually(() => expect(output).toContain("Try, in another terminal"));
  servedMs = Date.now();
});

afterAll(async () => {
  const exited = once(demo, "exit");
  demo.kill("SIGINT");
  const [code] = await exited;
  folder.remove();
  expect(code).toBe(0);
});

test("people who arrive while the demo is served cause postbacks, and their campaigns have names", async () => {
  const [, url = ""] = /It is served at (\S+) until/.exec(output) ?? [];
  const pool = new Touchpoint({ url, dataDir: folder.dataDir }).database();
  // Postbacks to an address that the click brought.
  const LIVE = `from postback p join user_account u using (app_id, client_id)
    where p.ad_platform = 'kuaishou' and u.registered_at_ms > ${servedMs}`;
  const count = async (text: string) => (await pool.query(`select count(*)::int as n ${text}`)).rows[0].n;
  await eventually(async () => expect(await count(`${LIVE} and p.status = 1`)).toBeGreaterThanOrEqual(5));
  const { rows } = await pool.query("select distinct reason from postback where status = 3 and reason like '%host%'");
  expect(rows).toEqual([]);
  const nameless = `from user_account u where turbo_promoted_object_id <> ''
    and not exists (select from campaign c where c.app_id = u.app_id and c.turbo_promoted_object_id = u.turbo_promoted_object_id and c.name <> '')`;
  expect(await count("from user_account where turbo_promoted_object_id <> ''")).toBeGreaterThan(5);
  expect(await count(nameless)).toBe(0);
  await pool.end();
});
