import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Tables } from "../http/fixture.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson } from "./run.ts";

const server = sharedServer();
const tables = new Tables(server);

test("the audit log names what commands do as it names what the console does, with who ran them", async () => {
  const { appId: app_id } = await server.createApp();
  const file = join(tmpdir(), `touchpoint-audit-${app_id}.csv`);
  writeFileSync(file, "date,cost\n2024-06-15,1\n");
  const run = (...args: string[]) => cliJson(server.dataDir, [...args, "--app", String(app_id)]);
  await run("rules", "set", "--click-window", "3d");
  const { rule_id } = await run("postback", "rule", "add", "--moment", "pay", "--event-type", "pay");
  await run("postback", "rule", "set", String(rule_id), "--share", "50%");
  await run("postback", "rule", "remove", String(rule_id));
  await run("postback", "resend", "--status", "2");
  await run("cost", "import", file);
  await cli(server.dataDir, ["export", "users", "--from", "2024-06-15", "--to", "2024-06-15", "--app", String(app_id)]);
  // What is refused leaves nothing.
  await cli(server.dataDir, ["cost", "pull", "--app", String(app_id)]);
  await cli(server.dataDir, ["postback", "rule", "remove", String(rule_id), "--app", String(app_id)]);
  rmSync(file);
  const logged = await tables.query(
    "select actor, action, details from audit_log where app_id = $1 order by audit_id",
    [app_id],
  );
  for (const { actor } of logged) expect(actor).toMatch(/^command line \(.+\)$/);
  const days = { from: "2024-06-15", to: "2024-06-15" };
  expect(logged.map(({ action, details }) => [action, details])).toEqual([
    ["attribution/rules", { app_id, rules: { click_window: "3d" } }],
    ["postback/rules/create", { app_id, moment: "pay", event_type: "pay" }],
    ["postback/rules/edit", { app_id, rule_id, share: "50%" }],
    ["postback/rules/remove", { app_id, rule_id }],
    ["postback/resend", { app_id, status: 2 }],
    ["cost/import", { app_id }],
    ["export", { app_id, kind: "users", ...days, format: "ndjson", user_filtering: "…" }],
  ]);
});
