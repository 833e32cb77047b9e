import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import { emptyFacts } from "../../src/db/facts.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { createPostbackRule, type NewPostbackRule } from "../../src/db/postback-rule.ts";
import type { EntryKind } from "../../src/journal/entry.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { readAll } from "../journal/temp-journal.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, profile, track } from "./apply-stage.ts";
import { rowsOf, vault } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
  const { appId } = stage.app;
  const rules = { impressions: true, flaggedMayWin: true, reattribution: true, reclickDays: 0, refluxDays: 1 };
  await storeRuleSettings(stage.pool, { appId, platform: "", rules, changedAtMs: 0 });
  const nothing = {
    settings: {},
    secrets: {},
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
  for (const adPlatform of ["tencent", "baidu"]) {
    const more = { advertiserId: "", postbacks: true, costs: false, ratePerS: 0 };
    await storeAccount(stage.pool, vault, { appId, adPlatform, ...more, ...nothing }, 0);
  }
  await stage.pool.query("truncate postback_rule");
  await Promise.all(RULES.map((rule) => createPostbackRule(stage.pool, { ...PLAIN, appId, ...rule }, 0)));
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const PLAIN: Omit<NewPostbackRule, "appId" | "moment" | "eventType"> = {
  adPlatform: "",
  campaignId: "",
  code: "",
  conditions: {},
  shareBp: 10_000,
  windowDays: 30,
  enabled: true,
  value: { kind: "as_is" },
};

type Rule = Partial<NewPostbackRule> & Pick<NewPostbackRule, "moment" | "eventType">;

/** Rules for every moment, and for every reason to skip. */
const RULES: readonly Rule[] = [
  { moment: "activate", eventType: "activate" },
  { moment: "register", eventType: "register", adPlatform: "tencent" },
  { moment: "pay", eventType: "pay", conditions: { amountCents: { min: 100 } }, shareBp: 6_000 },
  { moment: "pay", eventType: "pay", adPlatform: "baidu", value: { kind: "factor", factorBp: 3_333 } },
  { moment: "first_pay", eventType: "first_pay", conditions: { daysSinceTouch: { max: 1 } } },
  { moment: "first_day_pay", eventType: "first_day_pay" },
  { moment: "retention_1", eventType: "twice" },
  { moment: "retention_2", eventType: "retention_2d", windowDays: 2 },
  {
    moment: "event:e",
    eventType: "key_active",
    conditions: { properties: [{ field: "event$n", operator: "equal", values: [2] }] },
  },
  { moment: "event:f", eventType: "create_role", conditions: { count: { min: 1 } } },
  { moment: "event:f", eventType: "key_active", adPlatform: "baidu" },
  { moment: "ad_view", eventType: "ad_quality", conditions: { count: { min: 2 }, amountCents: { min: 10 } } },
  { moment: "each_ad", eventType: "action_valid", adPlatform: "tencent", code: "AD_IMPRESSION" },
  { moment: "return", eventType: "re_active" },
];

const CLIENTS = ["a", "b", "c"];
const times = fc.constantFrom(0, -HOUR_MS, 5 * HOUR_MS, -4 * DAY_MS);
const events = fc.oneof(
  fc
    .tuple(fc.constantFrom("e", "f"), fc.constantFrom({}, { n: 1 }, { n: 2 }))
    .map((args) => (at: number) => track(...args, at)),
  fc.tuple(fc.constantFrom("o1", "o2", "o3", "o4"), fc.constantFrom(600, 99)).map(
    ([order, cents]) =>
      (at: number) =>
        pay(order, cents, {}, at),
  ),
  fc.constantFrom(50, 150).map((ecpm) => (at: number) => track("$AdShow", { $ecpm: ecpm }, at)),
  fc.constant((at: number) => profile("profile_set", { n: 1 }, at)),
);
type Body = (at: number) => object | string;
const bodies: fc.Arbitrary<[EntryKind, Body]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.array(events, { minLength: 1, maxLength: 4 }), times)
      .map(([list, ms]): [EntryKind, Body] => [
        "collect",
        // Clients send in the order of time.
        (at) => ({ event_list: list.map((event, index) => event(at + ms + index)) }),
      ]),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom({}, { gdt_vid: "x" }, { bd_vid: "y" }, { orgId: 1, attribution: true })
      .map((ad_data): [EntryKind, Body] => [
        "register",
        () => ({ name: "n", channel: "c", version: 1, ad_data, wx_openid: "open" }),
      ]),
  },
  fc.constantFrom<[EntryKind, Body]>(
    [
      "attributed",
      (at) => ({
        name: "n",
        channel: "",
        version: 1,
        active_time: at - 4 * DAY_MS,
        click_time: at - 5 * DAY_MS,
        click_company: "tencent",
        ad_data: { tencent: { aid: "7" } },
      }),
    ],
    ["initialize", (at) => ({ name: "n", channel: "c", version: 2, history_info: { create_time: at - 9 * DAY_MS } })],
    ["device_info", () => ({ data: { os_name: "ios", idfa: "AEBE52E7-03EE-455A-B3C4-E57283966239" } })],
  ),
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom("tencent", "baidu", "bilibili"),
        fc.constantFrom(0, HOUR_MS, DAY_MS),
        fc.constantFrom("x", "y"),
        fc.constantFrom("", "&wx_openid=open"),
      )
      .map(([company, ageMs, id, key]): [EntryKind, Body] => [
        "click",
        (at) => `company=${company}&click_id=${id}&bd_vid=${id}&ts=${at - ageMs}&aid=${id}${key}`,
      ]),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...CLIENTS)
      .map((to): [EntryKind, Body] => ["reset_client_id", () => ({ new_client_id: to })]),
  },
);
const journals = fc.array(
  fc.record({
    sent: bodies,
    client: fc.constantFrom(...CLIENTS),
    // More than a clock may be set back: within that, two clients with one id cannot be told apart.
    afterMs: fc.constantFrom(61_000, HOUR_MS, 30 * HOUR_MS),
  }),
  { minLength: 5, maxLength: 50 },
);

async function write(list: typeof journals extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  let at = NOW_MS;
  for (const { sent, client, afterMs } of list) {
    at += afterMs;
    await stage.append(sent[0], client, sent[1](at), { at });
  }
}

const tables = async () => ({
  postback: await rowsOf(stage.pool, "postback"),
  outbox: await rowsOf(stage.pool, "outbox", ["outbox_id"]),
  orders: await rowsOf(stage.pool, "orders"),
  aside: await rowsOf(stage.pool, "set_aside", ["set_aside_id"]),
});

/** Platforms accept everything that waits. */
async function accept(): Promise<void> {
  await stage.pool.query("delete from outbox");
  await stage.pool.query(
    "update postback set status = 1, attempts = 1, back_cents = 5, accepted_day = '2024-06-20', changed_at_ms = 9e12 where status = 0",
  );
  await stage.pool.query(
    `update orders o set postback_status = 1, back_cents = 5, modified_at_ms = 9e12 from postback p
      where p.app_id = o.app_id and p.client_id = o.client_id and p.trace_id = o.trace_id and p.status = 1`,
  );
}

const accepted = async () =>
  (await rowsOf(stage.pool, "postback")).filter((row) => (row as { status: number }).status === 1);

const RUNS = { numRuns: 5 };

describe("the same journal", () => {
  test("makes the same postbacks, in batches of any size", async () => {
    await fc.assert(
      fc.asyncProperty(journals, fc.infiniteStream(fc.boolean()), async (list, cuts) => {
        await stage.begin();
        await write(list);
        const ends = (await readAll(stage.journal.dir, stage.journal.durable)).map((item) => item.until);
        await stage.applyInSteps([]);
        const whole = await tables();
        expect(whole.aside).toEqual([]);
        for (const some of [ends, ends.filter(() => cuts.next().value)]) {
          await stage.pool.query("truncate postback, outbox");
          await stage.applyInSteps(some);
          expect(await tables()).toEqual(whole);
        }
      }),
      RUNS,
    );
  });

  test("sends nothing again when it is replayed, and orders show the earlier outcomes", async () => {
    await fc.assert(
      fc.asyncProperty(journals, fc.infiniteStream(fc.boolean()), async (list, cuts) => {
        await stage.begin();
        await write(list);
        await stage.applyInSteps([]);
        await accept();
        const before = await tables();
        const ends = (await readAll(stage.journal.dir, stage.journal.durable)).map((item) => item.until);
        await stage.applyInSteps(ends.filter(() => cuts.next().value));
        expect(await tables()).toEqual(before);
      }),
      RUNS,
    );
  });

  test("sends nothing again that was accepted before the rest of the journal came", async () => {
    await fc.assert(
      fc.asyncProperty(journals, fc.infiniteStream(fc.boolean()), async (list, cuts) => {
        await stage.begin();
        await write(list);
        const ends = (await readAll(stage.journal.dir, stage.journal.durable)).map((item) => item.until);
        await stage.applyInSteps(
          ends.filter(() => cuts.next().value),
          accept,
        );
        const before = await accepted();
        await stage.applyInSteps(ends.filter(() => cuts.next().value));
        expect(await rowsOf(stage.pool, "outbox")).toEqual([]);
        expect(await accepted()).toEqual(before);
      }),
      RUNS,
    );
  });
});

test("judges again when a return has won the user by the same ad", async () => {
  const returnAt = NOW_MS + 30 * HOUR_MS;
  await stage.register("a", { ad_data: { bd_vid: "y" } });
  await stage.register("a", { ad_data: { bd_vid: "y" } }, { at: returnAt });
  await stage.collect("a", [track("e", { n: 2 }, NOW_MS)], { at: returnAt + 1 });
  await stage.applyInSteps([]);
  const whole = await tables();
  expect(whole.postback).toContainEqual(expect.objectContaining({ event_type: "activate", reason: "window" }));
  const ends = (await readAll(stage.journal.dir, stage.journal.durable)).map((item) => item.until);
  await stage.pool.query("truncate postback, outbox");
  await stage.applyInSteps(ends);
  expect(await tables()).toEqual(whole);
});

test("tells two clients apart that had the same id one after the other", async () => {
  const at = (hours: number) => ({ at: NOW_MS + hours * HOUR_MS });
  for (const [hour, later] of [
    [0, "b"],
    [2, "c"],
  ] as const) {
    await stage.register("a", { ad_data: { gdt_vid: "x" } }, at(hour));
    await stage.append("reset_client_id", "a", { new_client_id: later }, at(hour + 1));
  }
  await stage.append("reset_client_id", "b", { new_client_id: "a" }, at(4));
  await stage.applyAll();
  await accept();
  const before = await tables();
  expect(before.postback).toHaveLength(4);
  await stage.applyInSteps([]);
  expect(await tables()).toEqual(before);
});

test("leaves a message that is being sent as it was, and a replay can be interrupted by another one", async () => {
  await stage.append("click", "", `company=tencent&click_id=x&ts=${NOW_MS - HOUR_MS}`, { at: NOW_MS - HOUR_MS });
  await stage.register("a", { ad_data: { gdt_vid: "x" } });
  await stage.append("reset_client_id", "a", { new_client_id: "b" }, { at: NOW_MS + HOUR_MS });
  await stage.collect("b", [pay("o9", 600)], { at: NOW_MS + 2 * HOUR_MS });
  await stage.applyAll();
  await stage.pool.query(
    "update outbox set attempts = 2, in_flight = true, due_at_ms = 7 where event_type = 'register'",
  );
  await stage.pool.query("update postback set attempts = 1, reason = 'busy' where event_type = 'register'");
  await stage.pool.query(
    "update outbox set content = content || '{\"is_resent\": true}' where event_type = 'activate'",
  );
  await stage.pool.query("update postback set resent = 1 where event_type = 'activate'");
  const everything = async () => [await rowsOf(stage.pool, "postback"), await rowsOf(stage.pool, "outbox")];
  const before = await everything();
  expect(before.map((rows) => rows.length)).toEqual([5, 5]);
  await stage.restart();
  await emptyFacts(stage.pool, stage.term);
  const [end] = (await readAll(stage.journal.dir, stage.journal.durable)).slice(2).map((item) => item.until);
  const interrupted = stage.newApplier(() => end!);
  while ((await interrupted.turn()) === "busy");
  await interrupted.close();
  await stage.applyInSteps([]);
  expect(await everything()).toEqual(before);
});

test("gives orders and the report the earlier outcomes even when it is replayed without any account", async () => {
  await stage.append("click", "", `company=tencent&click_id=x&ts=${NOW_MS - HOUR_MS}`, { at: NOW_MS - HOUR_MS });
  await stage.register("a", { ad_data: { gdt_vid: "x" } });
  await stage.collect("a", [pay("o9", 600)]);
  await stage.applyAll();
  await stage.pool.query("delete from outbox");
  await stage.pool.query(
    "update postback set status = 1, back_cents = 600, accepted_day = '2024-06-20' where event_type = 'first_pay'",
  );
  await stage.pool.query("update platform_account set postbacks = false");
  await stage.applyInSteps([]);
  await stage.pool.query("update platform_account set postbacks = true");
  const { rows } = await stage.pool.query("select postback_status, back_cents from orders");
  expect(rows).toEqual([{ postback_status: 1, back_cents: 600 }]);
  while ((await refreshOnce(stage.pool)) > 0);
  const { rows: sums } = await stage.pool.query(
    "select cohort, day, sum(postbacks)::int as postbacks, sum(postback_cents)::int as cents from cube group by 1, 2 having sum(postbacks) > 0 order by 1",
  );
  expect(sums).toEqual([
    { cohort: "occurred", day: "2024-06-20", postbacks: 1, cents: 600 },
    { cohort: "touch", day: "2024-06-15", postbacks: 1, cents: 600 },
  ]);
});
