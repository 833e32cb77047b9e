import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { COLD_NOWHERE } from "../../src/db/cold-event.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { query, sql } from "../../src/db/engine/sql.ts";
import { fetchEvents, loadTrackEvents, openEventCursor } from "../../src/db/event.ts";
import { readDay } from "../../src/db/lake-source.ts";
import { ALL_DAYS, loadPastEvents } from "../../src/db/postback-history.ts";
import { pricedAds } from "../../src/db/shown-ad.ts";
import { loadUsers } from "../../src/db/user-account.ts";
import { canonicalText } from "../../src/domain/event/fingerprint.ts";
import { loadRecentPayments } from "../../src/report/doctor-facts.ts";
import { readEvents } from "../../src/report/user/timeline-event.ts";
import { ApplyStage, NOW_MS, pay, track } from "./apply-stage.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const DAY = "2024-06-15";
const PHONE = { $device_id: "0123456789abcdef".repeat(8), $brand: "华为" };

/** As earlier versions have stored them, and as events without an origin are stored. */
async function makeWhole(form: "text" | "json" | "jsonb"): Promise<void> {
  const { rowCount } = await stage.pool.query(
    `update event e set properties_${form} = (o.properties_text || e.properties_rest)::${form}, properties_rest = null, origin_id = null
      from event_origin o where o.app_id = e.app_id and o.client_id = e.client_id and o.day = e.day and o.origin_id = e.origin_id`,
  );
  expect(rowCount).toBe(4);
  await stage.pool.query("delete from event_origin");
}

/** What everything reads that reads properties of events. */
async function readAll(clientId: string): Promise<Record<string, unknown>> {
  const { pool, app } = stage;
  const users = [{ appId: app.appId, clientId }];
  const [user] = await loadUsers(pool, users);
  const page = { bound: { atMs: NOW_MS + 1_000, key: undefined }, limit: 10, timeZone: app.timeZone, event: undefined };
  const exported = await inTransaction(pool, async (tx) => {
    await openEventCursor(tx, { appId: app.appId, fromDay: DAY, untilDay: "2024-06-16" });
    return fetchEvents(tx);
  });
  const copied = await inTransaction(pool, async (tx) => {
    const pieces: Buffer[] = [];
    for await (const piece of readDay(tx, { appId: app.appId, kind: "events", day: DAY }, NOW_MS + 1_000))
      pieces.push(piece);
    return Buffer.concat(pieces).toString();
  });
  return {
    exported: exported.map(({ properties, ...event }) => ({ ...event, properties: JSON.parse(properties) })),
    copied: copied.replaceAll(/\{.*\}/g, (json) => canonicalText(JSON.parse(json))),
    counted: await loadTrackEvents(pool, users, []),
    past: await loadPastEvents(pool, users, { names: ["$AdShow", "level_up"], days: ALL_DAYS, cold: [] }),
    priced: await query(pool, sql`select * from (${pricedAds(app.appId, sql`true`, [])}) ad order by at_ms`),
    payments: await loadRecentPayments(pool, { ...app, rates: {} }, { nowMs: NOW_MS, sinceMs: NOW_MS - 1_000 }),
    timeline: await readEvents(pool, user!, { ...page, cold: COLD_NOWHERE }),
  };
}

test.each(["text", "json", "jsonb"] as const)(
  "events whose properties are stored as a whole, as %s, are read like those with an origin, and as text after they move",
  async (form) => {
    await stage.register("a");
    await stage.collect("a", [
      track("level_up", { ...PHONE, level: 7, name: "游戏 1, 2: 3", ratio: 0.125, list: ["a", "b"] }, NOW_MS),
      track("$AdShow", { ...PHONE, $ecpm: 12.5, $ad_unit_id: "unit" }, NOW_MS + 1),
      track("$AdShow", { ...PHONE, $ad_unit_id: 17 }, NOW_MS + 2),
      pay("order-1", 600, PHONE, NOW_MS + 3),
    ]);
    await stage.applyAll();
    const fresh = await readAll("a");
    expect(fresh.payments).toHaveLength(1);
    expect(fresh.priced).toMatchObject([{ micros: 12_500 }, { micros: 0 }]);
    await makeWhole(form);
    expect(await readAll("a")).toEqual(fresh);
    await stage.append("reset_client_id", "a", { new_client_id: "b" });
    await stage.applyAll();
    expect((await query(stage.pool, sql`select 1 from event where properties_text is null`)).length).toBe(0);
    expect((await readAll("b")).exported).toEqual(
      (fresh.exported as object[]).map((event) => ({ ...event, clientId: "b" })),
    );
  },
);
