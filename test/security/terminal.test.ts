import { expect, test } from "vitest";
import { listOf, tableOf, visible } from "../../src/cli/output.ts";
import type { App } from "../../src/db/app.ts";
import { cli } from "../cli/run.ts";
import { track } from "../http/fixture.ts";
import { sharedServer } from "../support/shared-server.ts";

const server = sharedServer();

const CLEAR_SCREEN = "\u001b[2J\u001b[1;31m";
const NASTY = `${CLEAR_SCREEN}x\r\u009b31my\u0007\u0008\u202ez`;
/** Characters that a terminal would act upon. A line break ends a row. */
const ACTS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

test("control characters are escaped", () => {
  expect(visible("\u001b[2J")).toBe("\\u001b[2J");
  expect(visible(NASTY)).not.toMatch(ACTS);
  expect(visible("夏天 😀 é")).toBe("夏天 😀 é");
  expect(JSON.parse(visible(JSON.stringify({ a: NASTY })))).toEqual({ a: NASTY });
});

test("a line break in a cell does not start a new row", () => {
  expect(tableOf([{ name: "a\nforged  1", n: 1 }]).split("\n")).toHaveLength(2);
  expect(listOf({ name: "a\nforged  1" }).split("\n")).toHaveLength(1);
});

async function nastyApp(): Promise<App> {
  const app = await server.createApp({ name: `app ${NASTY}` });
  const ad_data = { gdt_vid: `v${NASTY}`, account_id: NASTY };
  await server.register(app, "u", { name: NASTY, channel: `c${NASTY}\nforged`, ad_data });
  await server.collect(app, "u", [track("e", { note: NASTY })]);
  await server.settle();
  return app;
}

test("commands print no control character from outside, in tables or as JSON", async () => {
  const { durable } = (await server.get("/progress")).data;
  const app = await nastyApp();
  const ofApp = ["--app", String(app.appId)];
  const runs = [
    ["app", "list"],
    ["app", "list", "--json"],
    ["user", "show", ...ofApp, "u"],
    // Entries of other tests may be in between.
    ["journal", "inspect", "--from", String(durable), "--entries", "10000"],
    ["user", "show", ...ofApp, CLEAR_SCREEN],
  ];
  const results = await Promise.all(runs.map((args) => cli(server.dataDir, args)));
  for (const [index, { stdout, stderr }] of results.entries()) {
    expect(`${stdout}${stderr}`, runs[index]!.join(" ")).not.toMatch(ACTS);
    expect(`${stdout}${stderr}`, runs[index]!.join(" ")).toContain("\\u001b[2J");
  }
  const apps = JSON.parse(results[1]!.stdout) as { app_id: number; name: string }[];
  expect(apps.find(({ app_id }) => app_id === app.appId)?.name).toBe(app.name);
});
