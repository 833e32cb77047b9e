import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { profile, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** One app for all tests; each that changes a user has its own. */
let app: App;
beforeAll(async () => {
  app = await server.appWith(["refused"]);
});

const reset = (from: string, to: unknown) =>
  server.post("user/reset_client_id/", app, { new_client_id: to }, { query: { client_id: from } });
const known = async (...ids: string[]) => (await server.lookUp(app, ...ids)).map((record) => record.client_id);

describe("reset_client_id", () => {
  test("gives the user the new id, with all their data", async () => {
    await server.register(app, "old", { wx_openid: "open-1", ad_data: { gdt_vid: "g" } });
    await server.collect(app, "old", [
      track("$PayEvent", { $pay_amount: 600, $order_id: "o1" }),
      track("$AdShow", { $ecpm: 10 }),
      profile("profile_set", { level: 3 }),
    ]);
    const before = (await tables.user(app, "old"))!;
    const answer = await reset("old", "new");
    expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
    expect(answer.data).toEqual({});
    expect(await tables.user(app, "new")).toEqual({ ...before, client_id: "new" });
    expect(await tables.user(app, "old")).toBeUndefined();
    expect(await tables.eventNames(app, "old")).toEqual([]);
    expect((await tables.eventNames(app, "new")).sort()).toEqual(["$AdShow", "$PayEvent", "profile_set"]);
    expect(await tables.orders(app, "old")).toEqual([]);
    expect(await tables.orders(app, "new")).toMatchObject([{ trace_id: "o1", cents: 600 }]);
    expect(await tables.userDays(app, "old")).toEqual([]);
    expect(await tables.userDays(app, "new")).toMatchObject([{ pay_count: 1, ad_count: 1, track_events: 2 }]);
    expect(await known("old", "new")).toEqual(["new"]);
  });

  test("registers the new id and unregisters the old one", async () => {
    await server.register(app, "registered");
    await reset("registered", "registered now");
    expect(await server.collect(app, "registered now", [track("at_once")])).toMatchObject({ code: 0 });
    await server.settle();
    expect(await server.collect(app, "registered", [track("late")])).toMatchObject({ code: 2000 });
    expect(await server.collect(app, "registered now", [track("later")])).toMatchObject({ code: 0 });
    expect(await tables.eventNames(app, "registered")).toEqual([]);
    expect(await tables.eventNames(app, "registered now")).toEqual(["at_once", "later"]);
  });

  test("makes the old id invalid from its answer on", async () => {
    for (let round = 0; round < 5; round += 1) {
      const old = `old ${round}`;
      await server.register(app, old);
      await reset(old, `new ${round}`);
      expect(await server.collect(app, old, [track("late")])).toMatchObject({ code: 2000 });
      expect(await tables.user(app, old)).toBeUndefined();
    }
  });

  test("keeps an order reported under the old id from being accepted again under the new one", async () => {
    await server.register(app, "payer");
    await server.collect(app, "payer", [track("$PayEvent", { $pay_amount: 600, $order_id: "o2" })]);
    await reset("payer", "payer now");
    await server.collect(app, "payer now", [track("$PayEvent", { $pay_amount: 600, $order_id: "o2", again: 1 })]);
    expect(await tables.orders(app, "payer")).toEqual([]);
    expect(await tables.orders(app, "payer now")).toMatchObject([{ trace_id: "o2" }]);
    expect(await tables.user(app, "payer now")).toMatchObject({ pay_count: 1, pay_cents: 600 });
  });

  test("frees the old id for a new user", async () => {
    await server.register(app, "freed", { channel: "first" });
    await reset("freed", "freed now");
    await server.settle();
    await server.register(app, "freed", { channel: "second" });
    expect(await tables.user(app, "freed")).toMatchObject({ channel: "second" });
    expect(await tables.user(app, "freed now")).toMatchObject({ channel: "first" });
  });

  test("refuses an id that is taken", async () => {
    await server.register(app, "a", { channel: "a" });
    await server.register(app, "b", { channel: "b" });
    expect(await reset("a", "b")).toMatchObject({ code: 1004, msg: expect.stringContaining("new_client_id") });
    expect(await tables.user(app, "b")).toMatchObject({ channel: "b" });
    expect(await tables.user(app, "a")).toMatchObject({ channel: "a" });
  });

  test.each([undefined, null, "", {}, [], true, "x".repeat(129), "a\u0000"])(
    "refuses new_client_id %j with 1004",
    async (id) => {
      const answer = await reset("refused", id);
      expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("new_client_id") });
    },
  );

  test("reads a number as its digits", async () => {
    await server.register(app, "not a number");
    await server.post("user/reset_client_id/", app, '{"new_client_id":12345678901234567890}', {
      query: { client_id: "not a number" },
    });
    expect(await known("not a number", "12345678901234567890")).toEqual(["12345678901234567890"]);
  });

  test("answers 2000 for an unregistered client", async () => {
    expect(await reset("stranger", "a stranger now")).toMatchObject({ status: 200, code: 2000 });
    expect(await known("stranger", "a stranger now")).toEqual([]);
  });
});

describe("update_data", () => {
  const update = (client_id: string, body: unknown) =>
    server.post("user/update_data/", app, body, { query: { client_id } });

  test("adds ids to a user and erases none", async () => {
    await server.register(app, "updated", { ad_data: { gdt_vid: "g" } });
    const body = { click_id: "click-1", wx_openid: "open-1", wx_unionid: "union-1", media_type: "tencent" };
    const answer = await update("updated", body);
    expect(answer).toMatchObject({ status: 200, code: 0, data: {}, extra: {} });
    await update("updated", { wx_openid: "", wx_unionid: null });
    expect(await tables.user(app, "updated")).toMatchObject({
      wx_openid: "open-1",
      wx_unionid: "union-1",
      ad_platform: "tencent",
      ad_data: { gdt_vid: "g", click_id: "click-1" },
    });
  });

  test.each(["click_id", "wx_openid", "wx_unionid", "media_type"])("refuses a %s of a wrong type", async (field) => {
    for (const value of [{}, [], true])
      expect(await update("refused", { [field]: value })).toMatchObject({
        code: 1004,
        msg: expect.stringContaining(field),
      });
  });
});
