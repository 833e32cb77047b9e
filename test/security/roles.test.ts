import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { addAudit } from "../../src/db/audit-log.ts";
import { setAside } from "../../src/db/set-aside.ts";
import { ROLES } from "../../src/domain/access/role.ts";
import { ADMIN, AdminCaller, ConsoleUser, consoleUser } from "../support/admin-caller.ts";
import { replyTo } from "../support/call.ts";
import { sharedServer } from "../support/shared-server.ts";
import { ADMIN_CASES, THEIRS } from "./admin-cases.ts";
import { ABOUT_ALL_APPS, CALLED_BY, NOT_BY_TOKEN, operationsIn } from "./admin-roles.ts";

const server = sharedServer();
const RANKS = [...ROLES, "installation"] as const;
const people = Object.fromEntries(ROLES.map((role) => [role, consoleUser(server, role)])) as Record<
  (typeof ROLES)[number],
  ConsoleUser
>;
const cases = Object.entries(ADMIN_CASES);
const NO_APP = 2_000_000_000;

let ours: App;
let theirs: App;
/** Admin of our app, and nobody elsewhere. */
let limited: ConsoleUser;
/** Admin of our app, viewer of the other one. */
let mixed: ConsoleUser;

beforeAll(async () => {
  // Ids that nothing has: whether something exists is asked after the role.
  [THEIRS.ruleId, THEIRS.viewId, THEIRS.segmentId] = [NO_APP, NO_APP, NO_APP];
  [ours, theirs] = [await server.createApp(), await server.createApp({ name: "their-name" })];
  const admin = { appId: ours.appId, role: "admin" } as const;
  limited = await new ConsoleUser(server, "admin", [admin]).signIn();
  mixed = await new ConsoleUser(server, "admin", [admin, { appId: theirs.appId, role: "viewer" }]).signIn();
});
afterAll(() => Promise.all([limited.remove(), mixed.remove()]));

type Answered = { code: number; msg: string; text: string };

async function called(by: AdminCaller, name: string, sent: Record<string, any>): Promise<Answered> {
  const [method, path] = name.split(" ") as [string, string];
  // The body of this one is no JSON.
  const isInQuery = method === "GET" || path.endsWith("events/import");
  const query = isInQuery ? `?${new URLSearchParams(sent)}` : "";
  const body = method === "GET" ? {} : { body: JSON.stringify(sent) };
  const { headers, text } = await replyTo(`${server.url}${path}${query}`, { method, headers: by.headers, ...body });
  const isEnvelope = headers.get("content-type")?.startsWith("application/json");
  return { code: 0, msg: "", text, ...(isEnvelope && (JSON.parse(text) as object)) };
}

const leastOf = (name: string) => RANKS.find((rank) => operationsIn(CALLED_BY[rank]).includes(name))!;
const isAboutAll = (name: string) => leastOf(name) === "installation" || operationsIn(ABOUT_ALL_APPS).includes(name);

test("every operation has one role, and no other is named", () => {
  const named = RANKS.flatMap((rank) => operationsIn(CALLED_BY[rank]));
  expect(named.sort()).toEqual(Object.keys(ADMIN_CASES).sort());
});

describe("the weakest role that may call", () => {
  test.each(cases)("%s", async (name, { call }) => {
    const app = await server.createApp();
    for (const role of ROLES) {
      const { code, msg } = await called(people[role], name, call(app));
      const isEnough = RANKS.indexOf(role) >= Math.min(RANKS.indexOf(leastOf(name)), ROLES.length - 1);
      if (isEnough) expect([2001, 2002, 2004], `${role}: ${msg}`).not.toContain(code);
      else expect(code, `${role}: ${msg}`).toBe(2004);
    }
  });
});

describe("a token with every right may call everything but what makes tokens and sessions:", () => {
  let program: AdminCaller;
  beforeAll(async () => {
    const made = await people.admin.post("api-tokens/create", { name: "all", role: "admin", apps: "all" });
    program = new AdminCaller(server, { authorization: `Bearer ${made.data.token}` });
  });

  test.each(cases)("%s", async (name, { call }) => {
    const { code, msg } = await called(program, name, call(await server.createApp()));
    const isRefused = operationsIn(NOT_BY_TOKEN).includes(name);
    expect(code === 2004 && /^A token for programs/.test(msg), msg).toBe(isRefused);
  });
});

describe("for an admin of one app, another app does not exist:", () => {
  test.each(cases)("%s", async (name, { call }) => {
    const answer = await called(limited, name, call(theirs));
    const unknown = await called(limited, name, call({ appId: NO_APP }));
    if (isAboutAll(name)) expect([answer.code, unknown.code]).toEqual([2004, 2004]);
    else if (call(theirs).app_id !== undefined)
      expect([answer, unknown]).toMatchObject([
        { code: 2001, msg: `app_id: there is no app ${theirs.appId}.` },
        { code: 2001, msg: `app_id: there is no app ${NO_APP}.` },
      ]);
    else expect(answer.code).not.toBe(2004);
    expect(answer.text).not.toContain("their-name");
  });
});

test.each(cases)("%s: a role for one app gives nothing in another", async (name, { call }) => {
  const { code } = await called(mixed, name, call(theirs));
  if (isAboutAll(name)) expect(code).toBe(2004);
  else if (call(theirs).app_id !== undefined) expect(code === 2004).toBe(leastOf(name) !== "viewer");
  const own = await called(mixed, name, call(ours));
  expect(own.code === 2004).toBe(isAboutAll(name));
});

test("an app in the query does not hide another one in the body", async () => {
  const url = `${server.url}${ADMIN}/cost/import?app_id=${ours.appId}`;
  const body = JSON.stringify({ app_id: theirs.appId, csv: "date,cost\n2024-01-01,1\n" });
  const { text } = await replyTo(url, { method: "POST", headers: limited.headers, body });
  expect(JSON.parse(text)).toMatchObject({ code: 2001 });
});

describe("lists without an app show those of the person's apps:", () => {
  beforeAll(async () => {
    const about = { atMs: Date.now(), actor: "x", address: "", details: {} };
    for (const appId of [ours.appId, theirs.appId, null])
      await addAudit(server.pool, { ...about, action: "role-test", appId });
    const entry = { partition: 0, from: 0, until: 1, receivedAtMs: 0, reason: "role-test", payload: Buffer.from("x") };
    for (const appId of [ours.appId, theirs.appId, null])
      await setAside(server.pool, [{ ...entry, journalId: `role-test-${appId}`, appId }]);
    await new AdminCaller(server).post("accounts/set", {
      app_id: theirs.appId,
      ad_platform: "oppo",
      postbacks: "off",
    });
  });

  test("apps, and viewers get no access tokens", async () => {
    const idsFor = async (who: ConsoleUser) => (await who.get("apps")).data.apps.map(({ app_id }: any) => app_id);
    expect(await idsFor(limited)).toEqual([ours.appId]);
    expect(await idsFor(mixed)).toEqual([ours.appId, theirs.appId]);
    const tokens = (await mixed.get("apps")).data.apps.map((app: any) => app.access_token);
    expect(tokens).toEqual([ours.accessToken, ""]);
    expect(await idsFor(people.viewer)).toEqual(expect.arrayContaining([ours.appId, theirs.appId]));
  });

  test("the audit log, where viewers of an app see nothing of it", async () => {
    for (const who of [limited, mixed]) {
      const { entries } = (await who.get("audit")).data;
      expect(new Set(entries.map((entry: any) => entry.app_id))).toEqual(new Set([ours.appId]));
    }
    const all = (await people.analyst.get("audit")).data.entries.filter(({ action }: any) => action === "role-test");
    expect(all).toHaveLength(3);
  });

  test("what was set aside, and its replay", async () => {
    const { entries, total } = (await limited.get("set-aside")).data;
    expect(entries).toMatchObject([{ app_id: ours.appId, reason: "role-test" }]);
    expect(total).toBe(1);
    const waiting = `select app_id, set_aside_id as id from set_aside where reason = 'role-test' and state = 'waiting'`;
    const rows = (await server.pool.query(waiting)).rows as { app_id: number | null; id: number }[];
    const other = rows.filter(({ app_id }) => app_id !== ours.appId).map(({ id }) => Number(id));
    expect(await limited.post("set-aside/replay", { ids: other })).toMatchObject({ data: { requested: 0 } });
    await server.pool.query("delete from set_aside where reason = 'role-test'");
  });

  test("health, and the state of the outbox", async () => {
    for (const path of ["health", "postback/status"]) {
      expect(JSON.stringify((await people.analyst.get(path)).data.accounts)).toContain(`"app_id":${theirs.appId}`);
      expect(JSON.stringify((await limited.get(path)).data)).not.toContain(`"app_id":${theirs.appId}`);
    }
  });
});

test("other roles end the person's other sessions, and count at once for the one that is kept", async () => {
  const boss = await new ConsoleUser(server, "admin").signIn();
  const grants = [{ app_id: ours.appId, role: "viewer" }];
  expect(await boss.post("console-users/role", { name: people.viewer.name, grants })).toMatchObject({ code: 0 });
  expect(await people.viewer.get("apps")).toMatchObject({ code: 2002 });
  const own = [{ app_id: ours.appId, role: "operator" }];
  // Others are admins of all apps, so this one may step down.
  await new ConsoleUser(server, "admin").signIn();
  expect(await boss.post("console-users/role", { name: boss.name, grants: own })).toMatchObject({ code: 0 });
  expect((await boss.get("session")).data.grants).toMatchObject(own);
  expect(await boss.post("console-users/role", { name: boss.name, grants: own })).toMatchObject({ code: 2004 });
  await boss.remove();
});

test("the live stream of an app needs the role for it", async () => {
  const who = await new ConsoleUser(server, "analyst", [{ appId: theirs.appId, role: "analyst" }]).signIn();
  expect(await who.get("live/stream", { app_id: ours.appId })).toMatchObject({ code: 2001 });
  expect(await mixed.get("live/stream", { app_id: theirs.appId })).toMatchObject({ code: 2004 });
  await who.remove();
});
