import { beforeAll, describe, expect, test } from "vitest";
import { savedViewAnswer, savedViewsAnswer, viewRemovedAnswer } from "../../../src/contract/admin/report-view.ts";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { ConsoleUser, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = consoleUser(server, "admin");
const [ann, bob] = [consoleUser(server, "analyst"), consoleUser(server, "analyst")];
const PARAMETERS = { metrics: "AdCost,AppROI", dims: "date", caliber: "user_activated_time" };

let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

async function save(user: ConsoleUser, more: Row = {}): Promise<Row> {
  const body = { app_id: app.appId, name: `view ${Math.random()}`, parameters: PARAMETERS, ...more };
  return dataOf(await user.post("report/views/save", body), savedViewAnswer);
}
const call = (user: ConsoleUser, what: string, view: Row, more: Row = {}) =>
  user.post(`report/views/${what}`, { app_id: app.appId, view_id: view.view_id, ...more });
const seen = async (user: ConsoleUser, appId = app.appId): Promise<Row[]> =>
  dataOf(await user.get("report/views", { app_id: appId }), savedViewsAnswer).views;
const idsOf = async (user: ConsoleUser) => (await seen(user)).map(({ view_id }) => view_id);

describe("a private view", () => {
  test("is kept as it was saved, for analysts too, and visible only to its owner", async () => {
    const view = await save(ann, { name: "  每日 ROI " });
    expect(view).toEqual({
      view_id: expect.any(Number),
      name: "每日 ROI",
      parameters: PARAMETERS,
      owner: ann.name,
      is_shared: false,
      may_change: true,
      changed_at: expect.any(Number),
    });
    expect(await seen(ann)).toContainEqual(view);
    for (const other of [bob, admin]) expect(await idsOf(other)).not.toContain(view.view_id);
  });

  test("can be replaced, renamed and removed only by its owner", async () => {
    const view = await save(ann, { name: "before" });
    for (const other of [bob, admin]) {
      expect(await call(other, "rename", view, { name: "x" })).toMatchObject(refused(/no view/));
      expect(await call(other, "remove", view)).toMatchObject(refused(/no view/));
      expect(await call(other, "save", view, { name: "x", parameters: {} })).toMatchObject(refused(/no view/));
    }
    const saved = dataOf(await call(ann, "save", view, { name: "now", parameters: { dims: "gid" } }), savedViewAnswer);
    expect(saved).toMatchObject({ view_id: view.view_id, name: "now", parameters: { dims: "gid" } });
    const renamed = dataOf(await call(ann, "rename", view, { name: "later" }), savedViewAnswer);
    expect(renamed).toMatchObject({ name: "later", parameters: { dims: "gid" } });
    dataOf(await call(ann, "remove", view), viewRemovedAnswer);
    expect(await idsOf(ann)).not.toContain(view.view_id);
    expect(await call(ann, "remove", view)).toMatchObject(refused(/no view/));
  });

  test("needs a name that its owner has not used", async () => {
    const [one, two] = [await save(ann, { name: "same" }), await save(ann, { name: "other" })];
    const again = { app_id: app.appId, name: "same", parameters: {} };
    expect(await ann.post("report/views/save", again)).toMatchObject(refused(/name already exists/));
    expect(await call(ann, "rename", two, { name: "same" })).toMatchObject(refused(/name already exists/));
    expect(await call(ann, "rename", one, { name: "same" })).toMatchObject({ code: 0 });
    expect((await save(bob, { name: "same" })).name).toBe("same");
  });

  test("belongs to one app", async () => {
    const view = await save(ann);
    const other = await server.createApp();
    expect(await seen(ann, other.appId)).toEqual([]);
    const elsewhere = { app_id: other.appId, view_id: view.view_id };
    expect(await ann.post("report/views/remove", elsewhere)).toMatchObject(refused(/no view/));
    expect(await idsOf(ann)).toContain(view.view_id);
  });
});

describe("a shared view", () => {
  test("is shared only by an admin, visible to all, and changed only by admins", async () => {
    const view = await save(admin);
    const own = await save(ann);
    expect(await call(ann, "share", own, { is_shared: true })).toMatchObject(refused(/Your role/, 2004));
    const shared = dataOf(await call(admin, "share", view, { is_shared: true }), savedViewAnswer);
    expect(shared).toMatchObject({ is_shared: true, may_change: true });
    expect(await seen(bob)).toContainEqual({ ...shared, may_change: false });
    expect(await call(bob, "rename", view, { name: "x" })).toMatchObject(refused(/Only admins/, 2004));
    expect(await call(bob, "remove", view)).toMatchObject(refused(/Only admins/, 2004));
    dataOf(await call(admin, "share", view, { is_shared: false }), savedViewAnswer);
    expect(await idsOf(bob)).not.toContain(view.view_id);
  });

  test("is noted in the audit log when it is changed; a private view is not", async () => {
    const [own, shared] = [await save(admin, { name: "own" }), await save(admin, { name: "shared" })];
    await call(admin, "share", shared, { is_shared: true });
    for (const view of [own, shared]) {
      await call(admin, "rename", view, { name: `${view.name} renamed` });
      await call(admin, "remove", view);
    }
    const { entries } = (await admin.get("audit", { app_id: app.appId })).data;
    const of = (view: Row) =>
      entries.filter(({ details }: Row) => details.view_id === view.view_id).map(({ action }: Row) => action);
    expect(of(own)).toEqual([]);
    expect(of(shared)).toEqual(["report/views/remove", "report/views/rename", "report/views/share"]);
  });
});

test("a removed person's private views go, and their shared views stay", async () => {
  const leaving = await new ConsoleUser(server, "admin").signIn();
  const [own, shared] = [await save(leaving), await save(leaving)];
  await call(leaving, "share", shared, { is_shared: true });
  await leaving.remove();
  expect(await idsOf(bob)).toContain(shared.view_id);
  expect(await tables.query("select 1 from report_view where view_id = $1", [own.view_id])).toEqual([]);
});

test("the number of views per person and app is limited", async () => {
  const full = await server.createApp();
  await tables.query(
    `insert into report_view (app_id, owner, is_shared, name, parameters, changed_at_ms)
      select $1, $2, false, 'v' || n, '{}', 0 from generate_series(1, $3::int) n`,
    [full.appId, ann.name, LIMITS.reportViews],
  );
  const more = { app_id: full.appId, name: "one more", parameters: {} };
  expect(await ann.post("report/views/save", more)).toMatchObject(refused(/at most 200 views/));
  expect(await bob.post("report/views/save", more)).toMatchObject({ code: 0 });
});

describe("a view is not saved with", () => {
  const many = Object.fromEntries(Array.from({ length: LIMITS.reportViewParameters + 1 }, (_, at) => [`p${at}`, ""]));
  test.each<[string, Row, RegExp, number?]>([
    ["no name", { name: undefined }, /name/],
    ["a name of blanks", { name: "  " }, /name is empty/],
    ["a name that is too long", { name: "n".repeat(101) }, /name/],
    ["no parameters", { parameters: undefined }, /parameters/],
    ["parameters that are no texts", { parameters: { page: 1 } }, /parameters\.page/],
    ["too many parameters", { parameters: many }, /parameters/],
    ["a parameter that is too long", { parameters: { dims: "d".repeat(5_000) } }, /parameters\.dims/],
    ["an invalid id", { view_id: 0 }, /view_id/],
    ["an app that does not exist", { app_id: 999_999_999 }, /app_id/, 2001],
  ])("%s", async (_, change, msg, code) => {
    const body = { app_id: app.appId, name: "view", parameters: {}, ...change };
    expect(await ann.post("report/views/save", body)).toMatchObject(refused(msg, code));
  });
});
