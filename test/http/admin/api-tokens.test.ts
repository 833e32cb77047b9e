import { beforeAll, expect, test } from "vitest";
import { apiTokenList, madeApiToken } from "../../../src/contract/setting/api-token.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, ConsoleUser, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";

const server = sharedServer();
const boss = consoleUser(server, "admin");
let app: App;
let other: App;
let lin: ConsoleUser;

beforeAll(async () => {
  [app, other] = [await server.createApp(), await server.createApp()];
  lin = await new ConsoleUser(server, "operator", [{ appId: app.appId, role: "operator" }]).signIn();
  return () => lin.remove();
});

const bearer = (token: string) => new AdminCaller(server, { authorization: `Bearer ${token}` });

async function tokenOf(by: AdminCaller, body: object): Promise<{ id: number; caller: AdminCaller }> {
  const { id, token } = dataOf(await by.post("api-tokens/create", { name: "nightly", ...body }), madeApiToken);
  return { id, caller: bearer(token) };
}

test("a token acts with its role and apps, without a cookie, and the log names it and its owner", async () => {
  const { caller } = await tokenOf(lin, { role: "operator", apps: [app.appId] });
  expect(await caller.post("campaigns/create", { app_id: app.appId, name: "by token" })).toMatchObject({ code: 0 });
  expect(await caller.post("campaigns/create", { app_id: other.appId })).toMatchObject({ code: 2001 });
  expect(await caller.post("apps/keys", { app_id: app.appId })).toMatchObject({ code: 2004 });
  const { entries } = (await lin.get("audit", { app_id: app.appId })).data;
  expect(entries[0].actor).toMatch(new RegExp(`^${lin.name} \\(token nightly tpa_.{6}…\\)$`));
  expect((await caller.get("session")).data).toMatchObject({ name: lin.name, csrf: "" });
});

test("a weaker token of a stronger owner stays weak, and its owner's views are its own", async () => {
  const { caller } = await tokenOf(boss, { role: "viewer", apps: [app.appId] });
  expect(await caller.get("user/search", { app_id: app.appId, q: "x" })).toMatchObject({ code: 2004 });
  const view = { app_id: app.appId, name: "seen by both", parameters: {} };
  expect(await caller.post("report/views/save", view)).toMatchObject({ code: 0, data: { owner: boss.name } });
  expect((await boss.get("report/views", { app_id: app.appId })).data.views).toHaveLength(1);
});

test("a token can neither make nor revoke tokens, nor change the password or get anybody a session", async () => {
  const { id, caller } = await tokenOf(boss, { role: "admin", apps: "all" });
  const grants = [{ app_id: null, role: "admin" }];
  for (const [path, more] of [
    ["create", { grants }],
    ["link", {}],
    ["role", { grants }],
    ["reset-second-factor", {}],
  ] as const)
    expect(await caller.post(`console-users/${path}`, { name: lin.name, ...more })).toMatchObject(
      refused(/sign in to the console/, 2004),
    );
  const body = { name: "child", role: "viewer", apps: "all" };
  expect(await caller.post("api-tokens/create", body)).toMatchObject(refused(/sign in to the console/, 2004));
  expect(await caller.post("api-tokens/revoke", { id })).toMatchObject(refused(/sign in to the console/, 2004));
  const change = { password: "x", new_password: "a good password" };
  expect(await caller.post("session/password", change)).toMatchObject(refused(/has no password/, 2002));
});

test("people see their own tokens, admins of all apps see all, and each use is noted", async () => {
  const { id, caller } = await tokenOf(lin, { role: "viewer", apps: [app.appId], days: 1 });
  const listed = async (who: AdminCaller) => {
    const { tokens } = dataOf(await who.get("api-tokens"), apiTokenList);
    return tokens as { id: number; owner: string; used_at_ms: number | null }[];
  };
  expect((await listed(lin)).find((token) => token.id === id)!.used_at_ms).toBeNull();
  await caller.get("apps");
  expect((await listed(lin)).find((token) => token.id === id)!.used_at_ms).toEqual(expect.any(Number));
  expect(new Set((await listed(lin)).map(({ owner }) => owner))).toEqual(new Set([lin.name]));
  expect((await listed(boss)).map(({ owner }) => owner)).toContain(lin.name);
});

test("a token that was revoked, has ended or was made up is refused, each with its reason", async () => {
  const { id, caller } = await tokenOf(lin, { role: "viewer", apps: [app.appId] });
  expect(await lin.post("api-tokens/revoke", { id })).toMatchObject({ code: 0 });
  expect(await caller.get("apps")).toMatchObject(refused(/was revoked/, 2002));
  const late = await tokenOf(lin, { role: "viewer", apps: [app.appId], days: 1 });
  await server.pool.query("update api_token set ends_at_ms = $1 where token_id = $2", [Date.now(), late.id]);
  expect(await late.caller.get("apps")).toMatchObject(refused(/has ended/, 2002));
  expect(await bearer(`tpa_${"x".repeat(43)}`).get("apps")).toMatchObject(refused(/Sign in, or send/, 2002));
});

test("the live stream opens with a token, and no more when it is revoked", async () => {
  const { id, caller } = await tokenOf(lin, { role: "analyst", apps: [app.appId] });
  const url = `${server.url}/admin/api/v1/live/stream?app_id=${app.appId}`;
  const stream = await fetch(url, { headers: caller.headers });
  expect(stream.headers.get("content-type")).toMatch(/event-stream/);
  await lin.post("api-tokens/revoke", { id });
  await stream.body!.cancel();
  expect(await caller.get("live/stream", { app_id: app.appId })).toMatchObject({ code: 2002 });
});
