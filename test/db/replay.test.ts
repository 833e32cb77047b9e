import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wrongTotals } from "../../sim/chaos/promises/totals.ts";
import { changeApp } from "../../src/db/app.ts";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import { requestReplay } from "../../src/db/set-aside.ts";
import { md5 } from "../../src/domain/user/identity.ts";
import type { EntryHead, EntryKind } from "../../src/journal/entry.ts";
import { readAll } from "../journal/temp-journal.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, profile, track } from "./apply-stage.ts";
import { makeApp, rowsOf } from "./temp-database.ts";

let stage: ApplyStage;
let otherApp: number;
beforeAll(async () => {
  stage = await ApplyStage.open();
  otherApp = (await makeApp(stage.pool, "America/New_York")).appId;
  await changeApp(stage.pool, stage.app.appId, { rates: { USD: "7.1234" } });
  // Rules under which everything can happen: impressions win, and returning users are re-attributed.
  const rules = { impressions: true, flaggedMayWin: false, reattribution: true, reclickDays: 0, refluxDays: 1 };
  // Two touches of an address or a device are a flood, so that floods occur.
  const floods = { floodPerAddress: 1, floodPerDevice: 1 };
  const setting = { platform: "", changedAtMs: NOW_MS };
  await storeRuleSettings(stage.pool, { ...setting, appId: otherApp, rules: { ...rules, ...floods } });
  await storeRuleSettings(stage.pool, { ...setting, appId: stage.app.appId, rules: floods });
});
afterAll(() => stage.close());

type Sent = { kind: EntryKind; client: string; body: object | string; head: Partial<EntryHead> };

const CLIENTS = ["a", "b", "c", "d"];
const clients = fc.constantFrom(...CLIENTS);
const times = fc.constantFrom(0, 1, -HOUR_MS, 5 * HOUR_MS, -3 * DAY_MS, 2 * DAY_MS).map((ms) => NOW_MS + ms);
const orders = fc.constantFrom("o1", "o2", "o3");

/** Few different values, so that repeats, races for an order and changes to one property really happen. */
const events = fc.oneof(
  fc
    .tuple(fc.constantFrom("e", "f"), fc.constantFrom({}, { n: 1 }, { n: 2, $os: "Android 14" }), times)
    .map((args) => track(...args)),
  fc
    .tuple(orders, fc.constantFrom(600, 99), fc.constantFrom({}, { $pay_type: "USD" }, { $pay_type: "EUR" }), times)
    .map((args) => pay(...args)),
  fc
    .tuple(orders, fc.constantFrom({}, { $pay_amount: 50 }, { $pay_amount: 70, $refund_id: "r" }), times)
    .map(([order, more, time]) => track("$RefundEvent", { $order_id: order, ...more }, time)),
  fc
    .tuple(fc.constantFrom(1.5, 80), fc.constantFrom("reward", "interstitial", "banner"), times)
    .map(([ecpm, type, time]) => track("$AdShow", { $ecpm: ecpm, $ad_type: type }, time)),
  fc
    .tuple(fc.constantFrom({}, { $ecpm: 0 }, { $ecpm: 12 }), fc.constantFrom("unit1", 2), times)
    .map(([told, unit, time]) => track("$AdShow", { ...told, $ad_unit_id: unit }, time)),
  fc
    .tuple(
      fc.constantFrom(
        "profile_set",
        "profile_set_once",
        "profile_increment",
        "profile_append",
        "profile_uniq_append",
        "profile_unset",
        "profile_delete",
      ),
      fc.constantFrom({ n: 1 }, { n: 0.1, l: ["x"] }, { l: ["x", "y"] }),
      times,
    )
    .map((args) => profile(...args)),
);

const bodies: fc.Arbitrary<[EntryKind, object | string]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(events, { minLength: 1, maxLength: 6 })
      .map((list): [EntryKind, object] => ["collect", { event_list: list }]),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom({}, { gdt_vid: "x", account_id: "1" }, { bd_vid: "y" })
      .map((ad_data): [EntryKind, object] => ["register", { name: "n", channel: "c", version: 1, ad_data }]),
  },
  fc.constantFrom<[EntryKind, object | string]>(
    [
      "attributed",
      {
        name: "n",
        channel: "",
        version: 1,
        active_time: NOW_MS - DAY_MS,
        click_time: NOW_MS - 2 * DAY_MS,
        click_company: "kuaishou",
        ad_data: { kuaishou: { aid: "7" } },
      },
    ],
    [
      "initialize",
      { name: "n", channel: "c", version: 2, history_info: { create_time: NOW_MS - 9 * DAY_MS, company: "gdt" } },
    ],
    ["device_info", { data: { os_name: "ios", idfa: "AEBE52E7-03EE-455A-B3C4-E57283966239" } }],
    ["update_data", { wx_openid: "open", click_id: "k" }],
    ["consumer_event", { event_type: "PAY", ts: NOW_MS, amount: 500 }],
    ["handle_event", { event_type: "pay", trace_id: "o1", properties: { amount: 300 } }],
    ["refunds", { refunds: [{ order_id: "o1", refund_id: "f", amount: 40, currency: "USD", time: NOW_MS }] }],
    ["refunds", { refunds: [{ order_id: "o2", refund_id: "r", amount: null, currency: "CNY", time: NOW_MS + 2 }] }],
    ["register", "not JSON"],
    ["erase", {}],
  ),
  {
    weight: 4,
    arbitrary: fc
      .record({
        kind: fc.constantFrom<EntryKind>("click", "click", "impression"),
        company: fc.constantFrom("tencent", "baidu", "bilibili"),
        ageMs: fc.constantFrom(-30 * HOUR_MS, 0, HOUR_MS, DAY_MS, 8 * DAY_MS),
        id: fc.constantFrom("x", "y", "k"),
        key: fc.constantFrom("", "&wx_openid=open", `&idfa_md5=${md5("AEBE52E7-03EE-455A-B3C4-E57283966239")}`),
        crowd: fc.constantFrom("", "&ip=203.0.113.1", "&ip=203.0.113.1&oaid=crowd", "&oaid=crowd"),
      })
      .map(({ kind, company, ageMs, id, key, crowd }): [EntryKind, string] => [
        kind,
        `company=${company}&click_id=${id}&impression_id=${id}&ts=${NOW_MS - ageMs}&aid=${id}&track_id=${id}${key}${crowd}`,
      ]),
  },
  {
    // These share an address and a device with the touches above, and no key with any user: only flags reveal them.
    weight: 3,
    arbitrary: fc
      .record({ id: fc.nat(3), ageMs: fc.constantFrom(0, HOUR_MS, DAY_MS), ip: fc.constantFrom("203.0.113.1", "") })
      .map(({ id, ageMs, ip }): [EntryKind, string] => [
        "click",
        `company=vivo&click_id=flood${id}&ts=${NOW_MS - ageMs + id}&ip=${ip}&oaid=crowd`,
      ]),
  },
  { weight: 2, arbitrary: clients.map((to): [EntryKind, object] => ["reset_client_id", { new_client_id: to }]) },
);

const journals = fc.array(
  fc.record({
    sent: bodies,
    client: clients,
    registered: fc.constantFrom("yes", "yes", "unknown", "not_required"),
    inOtherApp: fc.boolean(),
    afterMs: fc.constantFrom(0, 1_000, HOUR_MS, 30 * HOUR_MS),
    rejectsFirst: fc.boolean(),
  }),
  { minLength: 5, maxLength: 60 },
);

async function write(list: typeof journals extends fc.Arbitrary<infer T> ? T : never): Promise<Sent[]> {
  let at = NOW_MS;
  const written: Sent[] = [];
  for (const { sent, client, registered, inOtherApp, afterMs, rejectsFirst } of list) {
    at += afterMs;
    const [kind, body] = sent;
    const head: Partial<EntryHead> = { at, registered: registered as EntryHead["registered"] };
    if (inOtherApp) head.app = otherApp;
    if (kind === "collect" && rejectsFirst) head.rejected = [[0, "too_new"]];
    await stage.append(kind, client, body, head);
    written.push({ kind, client, body, head });
  }
  return written;
}

/** Records of erasures survive a replay, but not the journal that they belong to. */
async function begin(): Promise<void> {
  await stage.begin();
  await stage.pool.query("truncate erased_user");
}

const TABLES = [
  "event",
  "user_account",
  "user_total",
  "login_total",
  "user_day",
  "user_ad_day",
  "orders",
  "order_key",
  "order_total",
  "touch",
  "touch_key",
  "touch_day",
  "user_key",
  "attribution_decision",
  "ledger_minute",
  "event_meta",
  "property_meta",
  "event_day",
  "journal_cursor",
  "erased_user",
];

async function tables(): Promise<Record<string, object[]>> {
  const rows: Record<string, object[]> = {};
  for (const table of TABLES) rows[table] = await rowsOf(stage.pool, table);
  rows.set_aside = await rowsOf(stage.pool, "set_aside", ["set_aside_id"]);
  expect(await wrongTotals(stage.pool)).toEqual([]);
  return rows;
}

test("the same journal gives the same tables, row by row, replayed whole, app by app, or in batches of any size", async () => {
  await fc.assert(
    fc.asyncProperty(journals, fc.infiniteStream(fc.boolean()), async (list, cuts) => {
      await begin();
      await write(list);
      const ends = (await readAll(stage.journal.dir, stage.journal.durable)).map((item) => item.until);
      await stage.applyInSteps([]);
      const whole = await tables();
      stage.byApp = true;
      await stage.applyInSteps([]);
      expect(await tables()).toEqual(whole);
      stage.byApp = undefined;
      await stage.applyInSteps(ends);
      expect(await tables()).toEqual(whole);
      await stage.applyInSteps(ends.filter(() => cuts.next().value));
      expect(await tables()).toEqual(whole);
    }),
    { numRuns: 5 },
  );
});

test("every event received is stored, a duplicate or rejected, for every app and minute", async () => {
  await fc.assert(
    fc.asyncProperty(journals, async (list) => {
      await begin();
      // The ledger keeps the number of an erased user's events, while the table has none of them.
      await write(list.filter(({ sent }) => sent[0] !== "erase"));
      await stage.applyAll();
      const { rows } = await stage.pool.query(`
        select app_id, minute_ms, sum(events) filter (where outcome = 'received') as received,
          sum(events) filter (where outcome <> 'received') as others
        from ledger_minute group by 1, 2`);
      for (const row of rows) expect(row).toMatchObject({ others: row.received });
      const { stored = 0 } = await stage.ledger();
      expect(await stage.count("event")).toBe(stored);
    }),
    { numRuns: 5 },
  );
});

test("figures, days and orders of every user add up to each other", async () => {
  await fc.assert(
    fc.asyncProperty(journals, async (list) => {
      await begin();
      await write(list);
      await stage.applyAll();
      const { rows } = await stage.pool.query(`
        select u.pay_count, u.pay_cents, u.ad_count, u.ad_micros, d.*, o.*, e.*
        from user_account u
        cross join lateral (select sum(pay_count)::int as day_pay_count, sum(pay_cents)::bigint as day_pay_cents, sum(ad_count)::int as day_ad_count,
          sum(ad_micros)::bigint as day_ad_micros, sum(track_events)::int as day_tracks from user_day d where d.app_id = u.app_id and d.client_id = u.client_id) d
        cross join lateral (select count(*)::int as orders, coalesce(sum(cents), 0)::bigint as order_cents from orders o where o.app_id = u.app_id and o.client_id = u.client_id) o
        cross join lateral (select count(*)::int as tracks from event e where e.app_id = u.app_id and e.client_id = u.client_id and e.type = 'track' and e.event <> '$RefundEvent') e`);
      for (const row of rows) {
        expect([row.day_pay_count, row.day_pay_cents]).toEqual([row.pay_count, row.pay_cents]);
        expect([row.orders, row.order_cents]).toEqual([row.pay_count, row.pay_cents]);
        expect([row.day_ad_count, row.day_ad_micros, row.day_tracks]).toEqual([
          row.ad_count,
          row.ad_micros,
          row.tracks,
        ]);
      }
      const { rows: refunded } = await stage.pool.query(`
        select o.cents, o.client_id, array_agg(distinct r.client_id) as clients, sum(r.cents)::bigint as refunded
        from refund r join orders o on o.app_id = r.app_id and o.trace_id = r.trace_id group by o.app_id, o.client_id, o.trace_id`);
      for (const order of refunded) {
        expect(order.clients).toEqual([order.client_id]);
        expect(order.refunded).toBeLessThanOrEqual(order.cents);
      }
    }),
    { numRuns: 5 },
  );
});

test("an order belongs to one client, and order_key and orders agree", async () => {
  await fc.assert(
    fc.asyncProperty(journals, async (list) => {
      await begin();
      await write(list);
      await stage.applyAll();
      const keys = await rowsOf(stage.pool, "order_key");
      const orders = (await rowsOf(stage.pool, "orders")).map(({ app_id, trace_id, client_id }: any) => ({
        app_id,
        trace_id,
        client_id,
      }));
      const texts = (rows: any[]) => rows.map((row) => `${row.app_id} ${row.trace_id} ${row.client_id}`).sort();
      expect(texts(orders)).toEqual(texts(keys));
    }),
    { numRuns: 5 },
  );
});

test("replaying entries set aside changes nothing while they still cannot be applied", async () => {
  await begin();
  await stage.append("register", "a", "not JSON");
  await stage.register("b");
  await stage.applyAll();
  const before = await tables();
  await requestReplay(stage.pool);
  while (await stage.applier.replayOne());
  expect(await tables()).toEqual(before);
});

test("entries set aside are numbered from the beginning again, even if all of them were erased since", async () => {
  const append = async () => {
    await stage.begin();
    await stage.append("collect", "a", "no JSON");
    await stage.applyAll();
  };
  const numbers = async () => (await stage.pool.query("select set_aside_id from set_aside")).rows;
  await append();
  const before = await numbers();
  expect(before).toHaveLength(1);
  await stage.pool.query("delete from set_aside");
  await append();
  expect(await numbers()).toEqual(before);
});
