import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadDecisions } from "../../src/db/attribution-decision.ts";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import { loadUsers } from "../../src/db/user-account.ts";
import type { Rules } from "../../src/domain/attribution/attribution-rules.ts";
import { userListRecord } from "../../src/report/list/user-record.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, profile, track } from "./apply-stage.ts";
import { rowsOf } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(async () => {
  await stage.begin();
  await setRules({});
});
afterAll(() => stage.close());

const setRules = (rules: Partial<Rules>) =>
  storeRuleSettings(stage.pool, { appId: stage.app.appId, platform: "", rules, changedAtMs: NOW_MS });

/** A click at this time, reported at once unless `receivedAtMs` says otherwise. */
async function click(touchedAtMs: number, parameters: Record<string, string>, receivedAtMs = touchedAtMs) {
  const query = new URLSearchParams({ company: "vivo", ts: String(touchedAtMs), ...parameters });
  await stage.append("click", "", query.toString(), { at: receivedAtMs });
}

const oaid = (id: string) => ({ device_info: { os_name: "android", oaid: id } });
const registerAt = (client: string, at: number, more: object = oaid(client)) => stage.register(client, more, { at });

const userOf = async (clientId: string) => (await loadUsers(stage.pool, [{ appId: stage.app.appId, clientId }]))[0]!;
const decisionsOf = (clientId: string) => loadDecisions(stage.pool, { appId: stage.app.appId, clientId });
const outcomesOf = async (clientId: string, number = 1) => {
  const decision = (await decisionsOf(clientId)).find((one) => one.number === number);
  return decision!.candidates.map(({ touch, outcome }) => [touch.aid, outcome]);
};

async function touchLedger(): Promise<Record<string, number>> {
  const { rows } = await stage.pool.query(
    "select outcome, sum(events)::int as events from touch_minute group by 1 order by 1",
  );
  return Object.fromEntries(rows.map((row) => [row.outcome, row.events]));
}

const ON = { reattribution: true, reclickDays: 30, refluxDays: 90 };

/** A user registered at NOW_MS through a click of `first`; all other times are in ms after that. */
async function returnOf(story: { clickAfterMs: number; returnAfterMs: number; seenAfterMs?: number }): Promise<void> {
  await click(NOW_MS - HOUR_MS, { oaid: "u", aid: "first", company: "oppo" });
  await registerAt("u", NOW_MS);
  await stage.applyAll();
  const { seenAfterMs } = story;
  if (seenAfterMs !== undefined)
    await stage.collect("u", [track("seen", {}, NOW_MS + seenAfterMs)], { at: NOW_MS + seenAfterMs });
  await click(NOW_MS + story.clickAfterMs, { oaid: "u", aid: "second", track_id: "campaign-0000002", csite: "s2" });
  await registerAt("u", NOW_MS + story.returnAfterMs);
  await stage.applyAll();
}

describe("a user who comes back", () => {
  test("is not attributed anew unless the rules say so", async () => {
    await returnOf({ clickAfterMs: 100 * DAY_MS, returnAfterMs: 100 * DAY_MS + 1 });
    expect([await userOf("u"), (await decisionsOf("u")).length]).toMatchObject([{ aid: "first" }, 1]);
    expect(userListRecord(await userOf("u"), stage.app).re_attribute_info).toBeNull();
  });

  test.each<[string, Partial<Rules>, Parameters<typeof returnOf>[0], "first" | "second"]>([
    ["a click exactly at reclick_days", {}, { clickAfterMs: 30 * DAY_MS, returnAfterMs: 30 * DAY_MS }, "second"],
    ["a click one ms earlier", {}, { clickAfterMs: 30 * DAY_MS - 1, returnAfterMs: 31 * DAY_MS }, "first"],
    ["a click outside the window", {}, { clickAfterMs: 31 * DAY_MS, returnAfterMs: 38 * DAY_MS }, "first"],
    ["a click inside it", {}, { clickAfterMs: 31 * DAY_MS, returnAfterMs: 38 * DAY_MS - 1 }, "second"],
    [
      "silence of exactly reflux_days",
      { reclickDays: 1_000 },
      { clickAfterMs: 90 * DAY_MS - HOUR_MS, returnAfterMs: 90 * DAY_MS },
      "second",
    ],
    [
      "silence of one ms less",
      { reclickDays: 1_000 },
      { clickAfterMs: 90 * DAY_MS - HOUR_MS, returnAfterMs: 90 * DAY_MS - 1 },
      "first",
    ],
    [
      "silence that an event has broken",
      { reclickDays: 1_000 },
      { clickAfterMs: 90 * DAY_MS, returnAfterMs: 91 * DAY_MS - 1, seenAfterMs: DAY_MS },
      "first",
    ],
    [
      "silence since an event",
      { reclickDays: 1_000 },
      { clickAfterMs: 90 * DAY_MS, returnAfterMs: 91 * DAY_MS, seenAfterMs: DAY_MS },
      "second",
    ],
    ["a return within the day", { reclickDays: 0 }, { clickAfterMs: 1, returnAfterMs: DAY_MS - 1 }, "first"],
    ["a return after a day", { reclickDays: 0 }, { clickAfterMs: 1, returnAfterMs: DAY_MS }, "second"],
  ])("%s", async (_, rules, story, expected) => {
    await setRules({ ...ON, ...rules });
    await returnOf(story);
    expect((await userOf("u")).aid).toBe(expected);
    expect(await decisionsOf("u")).toHaveLength(expected === "second" ? 2 : 1);
  });

  test("keeps the first decision on record beside the current one", async () => {
    await setRules(ON);
    await click(NOW_MS - HOUR_MS, { oaid: "u", aid: "first" });
    await registerAt("u", NOW_MS);
    await stage.applyAll();
    const before = await decisionsOf("u");
    await click(NOW_MS + 40 * DAY_MS, { oaid: "u", aid: "second" });
    await registerAt("u", NOW_MS + 41 * DAY_MS);
    await stage.applyAll();
    const [first, second] = await decisionsOf("u");
    expect([first]).toEqual(before);
    expect(second).toMatchObject({ number: 2, atMs: NOW_MS + 41 * DAY_MS, method: "device_id", adPlatform: "vivo" });
    expect(await userOf("u")).toMatchObject({ aid: "second", decisionNumber: 2, registeredAtMs: NOW_MS });
    // A late touch of the first registration changes only that one.
    await click(NOW_MS - 1, { oaid: "u", aid: "late" }, NOW_MS + 42 * DAY_MS);
    await stage.applyAll();
    expect(await outcomesOf("u", 1)).toEqual([
      ["late", "won"],
      ["first", "later_touch_won"],
    ]);
    expect(await userOf("u")).toMatchObject({ aid: "second", decisionNumber: 2 });
  });

  test("is won by the launch query of the return alone", async () => {
    await setRules(ON);
    await registerAt("u", NOW_MS);
    await registerAt("u", NOW_MS + 30 * DAY_MS, { ad_data: { gdt_vid: "v", adgroup_id: "7" } });
    await stage.applyAll();
    expect(await userOf("u")).toMatchObject({ adPlatform: "tencent", method: "launch_query", aid: "7" });
  });

  test("is not made organic by a return without a source", async () => {
    await setRules(ON);
    await click(NOW_MS - HOUR_MS, { oaid: "u", aid: "first" });
    for (const days of [0, 40, 200]) await registerAt("u", NOW_MS + days * DAY_MS);
    await stage.applyAll();
    expect([await userOf("u"), (await decisionsOf("u")).length]).toMatchObject([{ aid: "first" }, 1]);
  });

  test("is won by a click that is reported only after the return", async () => {
    await setRules(ON);
    await registerAt("u", NOW_MS);
    await registerAt("u", NOW_MS + 40 * DAY_MS);
    await stage.applyAll();
    await click(NOW_MS + 39 * DAY_MS, { oaid: "u", aid: "second" }, NOW_MS + 41 * DAY_MS);
    await stage.applyAll();
    expect(await userOf("u")).toMatchObject({ aid: "second", decisionNumber: 2 });
  });

  test("counts the days anew after each return, and shows the last one in re_attribute_info", async () => {
    await setRules(ON);
    await returnOf({ clickAfterMs: 31 * DAY_MS, returnAfterMs: 31 * DAY_MS + HOUR_MS });
    const info = () => userOf("u").then((user) => userListRecord(user, stage.app).re_attribute_info);
    const second = {
      ReAttributeAdAid: "second",
      ReAttributeAdCid: "",
      ReAttributeAdGid: "",
      ReAttributeAdPlatform: "vivo",
      ReAttributeAdvertiserID: "",
      ReAttributeCSite: "s2",
      ReAttributeChannel: "c",
      ReAttributeCreateTime: "2024-07-16 13:00:00",
      ReAttributeAdClickTime: "2024-07-16 12:00:00",
      ReAttributeTurboPromotedObjectID: "campaign-0000002",
      ReAttributeRetargetingCount: 1,
    };
    expect(await info()).toEqual(second);
    await registerAt("u", NOW_MS + 50 * DAY_MS);
    await stage.applyAll();
    expect(await info()).toEqual(second);
    await click(NOW_MS + 61 * DAY_MS, { oaid: "u", aid: "too soon" });
    await registerAt("u", NOW_MS + 61 * DAY_MS + 1);
    await stage.applyAll();
    expect(await info()).toEqual(second);
    await click(NOW_MS + 62 * DAY_MS, { oaid: "u", aid: "third" });
    await registerAt("u", NOW_MS + 63 * DAY_MS);
    await stage.applyAll();
    expect(await info()).toMatchObject({ ReAttributeAdAid: "third", ReAttributeRetargetingCount: 2 });
    expect((await decisionsOf("u")).map(({ number }) => number)).toEqual([1, 2, 3]);
  });
});

describe("the spans of a user's days are counted from the current touch", () => {
  const EVENTS_MS = [0, 22 * HOUR_MS, 23 * HOUR_MS, 25 * HOUR_MS, 3 * DAY_MS - 1, 3 * DAY_MS, 35 * DAY_MS];

  async function liveOf(client: string): Promise<void> {
    for (const [index, afterMs] of EVENTS_MS.entries()) {
      const at = NOW_MS + afterMs;
      const shown = track("$AdShow", { $ecpm: 12.5 + index }, at);
      const list = [shown, pay(`${client}-${index}`, 100 + index, {}, at), profile("profile_increment", { n: 1 }, at)];
      await stage.collect(client, [...list, track("$MPRegister", {}, at + 1)], { at });
      if (index % 3 === 0) await stage.applyAll();
    }
    await stage.append("consumer_event", client, { event_type: "PAY", ts: NOW_MS + 5 * DAY_MS, real_amount: 250 });
    await stage.append("handle_event", client, { event_type: "activate", properties: {} }, { at: NOW_MS + DAY_MS });
    await stage.applyAll();
  }

  async function daysOf(client: string): Promise<object[]> {
    const { rows } = await stage.pool.query(
      "select to_jsonb(t) - 'client_id' as row from user_day t where client_id = $1 order by day, span_t, span_r",
      [client],
    );
    return rows.map(({ row }) => row);
  }

  test("a late touch gives the same rows as one that was there from the start", async () => {
    await click(NOW_MS - 3 * HOUR_MS, { oaid: "early" });
    for (const client of ["early", "late", "organic"]) await registerAt(client, NOW_MS);
    for (const client of ["early", "late", "organic"]) await liveOf(client);
    expect(await daysOf("late")).toEqual(await daysOf("organic"));
    await click(NOW_MS - 3 * HOUR_MS, { oaid: "late" }, NOW_MS + 36 * DAY_MS);
    await stage.collect("late", [track("last", {}, NOW_MS + 36 * DAY_MS)], { at: NOW_MS + 36 * DAY_MS });
    await stage.collect("early", [track("last", {}, NOW_MS + 36 * DAY_MS)], { at: NOW_MS + 36 * DAY_MS });
    await stage.applyAll();
    expect(await daysOf("late")).toEqual(await daysOf("early"));
    expect(await daysOf("early")).not.toEqual(await daysOf("organic"));
    expect(await stage.setAside()).toEqual([]);
  });

  test("a re-attributed return gives the rows of a user who was reported with that touch", async () => {
    await setRules(ON);
    const touchedAtMs = NOW_MS + 33 * DAY_MS + HOUR_MS;
    await registerAt("back", NOW_MS);
    const report = { name: "r", channel: "c", version: 1, turbo_promoted_object_id: "", active_ip: "", click_ip: "" };
    const times = { active_time: NOW_MS, click_time: touchedAtMs, click_company: "vivo", ad_data: "", os_type: "" };
    await stage.append("attributed", "reported", { client_id: "reported", ...report, ...times });
    for (const client of ["back", "reported"]) await liveOf(client);
    expect(await daysOf("back")).not.toEqual(await daysOf("reported"));
    await click(touchedAtMs, { oaid: "back" });
    await registerAt("back", NOW_MS + 34 * DAY_MS);
    await stage.applyAll();
    expect(await userOf("back")).toMatchObject({ touchedAtMs, decisionNumber: 2 });
    expect(await daysOf("back")).toEqual(await daysOf("reported"));
  });
});

describe("touches beyond every window", () => {
  test("are dropped by the week, and later arrivals are counted as too_old", async () => {
    await click(NOW_MS - 40 * DAY_MS, { oaid: "a", aid: "old" });
    await click(NOW_MS - DAY_MS, { oaid: "a", aid: "new" });
    await stage.applyAll();
    await stage.applier.dropTouchesBefore(NOW_MS);
    expect(await stage.count("touch")).toBe(1);
    await click(NOW_MS - 39 * DAY_MS, { oaid: "a", aid: "late" }, NOW_MS - 38 * DAY_MS);
    await registerAt("a", NOW_MS);
    await stage.applyAll();
    expect(await touchLedger()).toEqual({ received: 3, stored: 2, too_old: 1 });
    expect(await outcomesOf("a")).toEqual([["new", "won"]]);
    await stage.restart();
    await click(NOW_MS - 38 * DAY_MS, { oaid: "a", aid: "later" }, NOW_MS - 37 * DAY_MS);
    await stage.applyAll();
    expect(await touchLedger()).toEqual({ received: 4, stored: 2, too_old: 2 });
  });

  test("are kept for the longest window of any app, and for at least 14 days", async () => {
    for (const days of [12, 55]) await click(NOW_MS - days * DAY_MS, { oaid: "a", aid: `${days} days` });
    await stage.applyAll();
    await setRules({ clickWindowMs: 60 * DAY_MS });
    await stage.applier.dropTouchesBefore(NOW_MS);
    await registerAt("a", NOW_MS);
    await stage.applyAll();
    expect(await outcomesOf("a")).toEqual([
      ["12 days", "won"],
      ["55 days", "later_touch_won"],
    ]);
    await setRules({ clickWindowMs: DAY_MS });
    await stage.applier.dropTouchesBefore(NOW_MS);
    expect(await stage.count("touch")).toBe(1);
  });
});

test("the order in which touches and the user's own calls arrive, and the cuts between batches, change nothing", async () => {
  const words: (() => Promise<unknown>)[] = [
    () => stage.register("u", { ad_data: { gdt_vid: "vid" }, client_ip: "203.0.113.7" }),
    () => stage.append("device_info", "u", { data: { os_name: "android", oaid: "u", imei: "8660000000001" } }),
    () => stage.collect("u", [pay("o", 600, {}, NOW_MS + DAY_MS - HOUR_MS)], { at: NOW_MS + DAY_MS }),
    () => stage.append("update_data", "u", { wx_openid: "open" }),
  ];
  const touches: (() => Promise<unknown>)[] = [
    () => click(NOW_MS - 2 * HOUR_MS, { company: "tencent", click_id: "vid", aid: "key" }, NOW_MS),
    () => click(NOW_MS - HOUR_MS, { oaid: "u", aid: "device" }, NOW_MS + 1),
    () => click(NOW_MS - HOUR_MS, { oaid: "u", imei: "8660000000001", aid: "tie" }, NOW_MS + 2),
    () => click(NOW_MS - 8 * DAY_MS, { company: "tencent", req_id: "vid", wx_openid: "open", aid: "old" }, NOW_MS),
    () => click(NOW_MS - 1, { company: "kuaishou", wx_openid: "open", aid: "open" }, NOW_MS),
    () => click(NOW_MS + 1, { oaid: "u", aid: "after" }, NOW_MS),
  ];
  const tables = async () => [
    await rowsOf(stage.pool, "user_account"),
    await rowsOf(stage.pool, "attribution_decision"),
    await rowsOf(stage.pool, "user_day"),
    await rowsOf(stage.pool, "user_key"),
  ];
  for (const send of [...touches, ...words]) await send();
  await stage.applyAll();
  const expected = await tables();
  expect(await userOf("u")).toMatchObject({ aid: "key", method: "click_key" });
  // Each touch is inserted before the call at its place; the user's own calls keep their order.
  const slot = fc.record({ before: fc.nat(words.length), key: fc.nat(), cut: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(slot, { minLength: 6, maxLength: 6 }), fc.array(fc.boolean()), async (slots, cuts) => {
      await stage.begin();
      for (let at = 0; at <= words.length; at += 1) {
        const here = touches.map((send, index) => ({ send, ...slots[index]! })).filter(({ before }) => before === at);
        for (const { send, cut } of here.sort((left, right) => left.key - right.key)) {
          await send();
          if (cut) await stage.applyAll();
        }
        await words[at]?.();
        if (cuts[at]) await stage.applyAll();
      }
      await stage.applyAll();
      expect(await tables()).toEqual(expected);
    }),
    { numRuns: 8 },
  );
});

describe("flags", () => {
  const flood = async (touches: number, more: object = {}) => {
    for (let index = 0; index < touches; index += 1) {
      const ids = { aid: `flood ${index}`, click_id: `c${index}` };
      await click(NOW_MS - HOUR_MS + index * 1_000, { oaid: "u", ...ids, ...more });
    }
  };

  test("a flood of one device is flagged, and may still win", async () => {
    await flood(31);
    await registerAt("u", NOW_MS);
    await stage.applyAll();
    expect((await decisionsOf("u"))[0]).toMatchObject({ method: "device_id", flags: ["flood_device"] });
    expect((await userOf("u")).aid).toBe("flood 30");
  });

  test("exactly the allowed number of touches is no flood", async () => {
    await flood(30);
    await registerAt("u", NOW_MS);
    await stage.applyAll();
    expect((await decisionsOf("u"))[0]).toMatchObject({ flags: [] });
  });

  test("if flagged touches may not win, more of them than a page do not hide an older good one", async () => {
    await setRules({ flaggedMayWin: false });
    await click(NOW_MS - 2 * DAY_MS, { oaid: "u", aid: "good" });
    await flood(120);
    await registerAt("u", NOW_MS);
    await stage.applyAll();
    expect((await userOf("u")).aid).toBe("good");
    const outcomes = await outcomesOf("u");
    expect(outcomes.filter(([, outcome]) => outcome === "flagged")).toHaveLength(120);
    expect(outcomes.filter(([, outcome]) => outcome === "won")).toEqual([["good", "won"]]);
  });

  test.each<[string, Partial<Rules>, () => Promise<void>]>([
    ["flood_address", { floodPerAddress: 2 }, () => flood(3, { ip: "203.0.113.9" })],
    ["datacentre", { datacentres: ["203.0.113.0/24"] }, () => flood(1, { ip: "203.0.113.9" })],
    ["short_gap", {}, () => click(NOW_MS - 9_999, { oaid: "u" })],
    ["future", {}, () => click(NOW_MS - HOUR_MS, { oaid: "u" }, NOW_MS - 2 * HOUR_MS)],
  ])("%s is on the decision, and the touch does not win if the rules say so", async (flag, rules, send) => {
    await setRules(rules);
    await send();
    await registerAt("u", NOW_MS);
    await stage.applyAll();
    expect((await decisionsOf("u"))[0]).toMatchObject({ adPlatform: "vivo", flags: [flag] });
    await setRules({ ...rules, flaggedMayWin: false });
    await registerAt("u", NOW_MS);
    await stage.applyAll();
    expect((await decisionsOf("u"))[0]).toMatchObject({ adPlatform: "", flags: [] });
  });
});

test("a renamed client keeps its decision, and a late touch finds it there", async () => {
  await click(NOW_MS - 2 * HOUR_MS, { oaid: "old", aid: "first" });
  await registerAt("old", NOW_MS);
  await stage.append("reset_client_id", "old", { new_client_id: "new" });
  await stage.applyAll();
  expect(await decisionsOf("old")).toEqual([]);
  expect((await decisionsOf("new"))[0]).toMatchObject({ number: 1, method: "device_id", adPlatform: "vivo" });
  expect(await userOf("new")).toMatchObject({ aid: "first", touchedAtMs: NOW_MS - 2 * HOUR_MS });
  await click(NOW_MS - HOUR_MS, { oaid: "old", aid: "late" }, NOW_MS + HOUR_MS);
  await stage.applyAll();
  expect((await userOf("new")).aid).toBe("late");
});

test("the ledger of touches adds up: every call is stored, a duplicate, or has a reason", async () => {
  for (const click_id of ["a", "b", "a", "c"]) await click(NOW_MS, { click_id });
  await stage.applyAll();
  await click(NOW_MS, { click_id: "b" });
  for (const company of ["", "natural", "no name", "__COMPANY__"]) await click(NOW_MS, { company });
  await stage.append("impression", "", "company=vivo&impression_id=a");
  await stage.applyAll();
  expect(await touchLedger()).toEqual({ received: 10, stored: 4, duplicate: 2, no_platform: 4 });
  expect([await stage.count("touch"), await stage.ledger(), await stage.setAside()]).toEqual([4, {}, []]);
});
