import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { loadDecisions } from "../../src/db/attribution-decision.ts";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import type { Rules } from "../../src/domain/attribution/attribution-rules.ts";
import { readAll } from "../journal/temp-journal.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS } from "./apply-stage.ts";
import { rowsOf } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const setRules = (rules: Partial<Rules>) =>
  storeRuleSettings(stage.pool, { appId: stage.app.appId, platform: "", rules, changedAtMs: NOW_MS });

/** A click an hour before NOW_MS, reported at NOW_MS unless `at` says otherwise. */
async function click(aid: string, more: Record<string, string> = {}, at = NOW_MS): Promise<void> {
  const ts = String(NOW_MS - HOUR_MS);
  const query = new URLSearchParams({ company: "vivo", ts, aid, click_id: aid, ip: "203.0.113.9", ...more });
  await stage.append("click", "", query.toString(), { at });
}

const DEVICE = { os_name: "android", oaid: "u" };
const register = (at = NOW_MS, more: object = {}) => stage.register("u", { device_info: DEVICE, ...more }, { at });

type Told = { number: number; aid: string | undefined; flags: readonly string[] };

async function told(): Promise<Told[]> {
  const decisions = await loadDecisions(stage.pool, { appId: stage.app.appId, clientId: "u" });
  return decisions.map(({ number, candidates, flags }) => ({
    number,
    flags,
    aid: candidates.find(({ outcome }) => outcome === "won")?.touch.aid,
  }));
}

/** Applies the journal entry by entry, in one batch, and cut in two at every place: each way gives these decisions. */
async function expectDecided(expected: Told[]): Promise<void> {
  const ends = (await readAll(stage.journal.dir, stage.journal.durable)).map((item) => item.until);
  const rows: object[][] = [];
  for (const cuts of [ends, [], ...ends.map((end) => [end])]) {
    await stage.applyInSteps(cuts);
    expect([cuts.length, ...cuts, await told()]).toEqual([cuts.length, ...cuts, expected]);
    rows.push(await rowsOf(stage.pool, "user_account"));
  }
  for (const row of rows) expect(row).toEqual(rows[0]);
}

const FLOOD = { floodPerAddress: 2 };

test("a flood that comes after a registration flags none of its touches, in the same batch or a later one", async () => {
  await setRules(FLOOD);
  await click("own", { oaid: "u" });
  await register();
  for (const aid of ["f1", "f2", "f3"]) await click(aid);
  await expectDecided([{ number: 1, aid: "own", flags: [] }]);
});

test.each<[string, () => Promise<unknown>]>([
  ["the user's own entry", () => stage.append("device_info", "u", { data: DEVICE })],
  ["a touch that shares a key with the user", () => click("late", { oaid: "u", ts: String(NOW_MS - 2 * HOUR_MS) })],
])("a flood counts as soon as %s comes after it", async (_, hear) => {
  await setRules(FLOOD);
  await click("own", { oaid: "u" });
  await register();
  for (const aid of ["f1", "f2", "f3"]) await click(aid);
  await hear();
  await click("f4");
  await expectDecided([{ number: 1, aid: "own", flags: ["flood_address"] }]);
});

const RETURNS = { reattribution: true, reclickDays: 0, refluxDays: 1 };
const onDay = (days: number) => ({ ts: String(NOW_MS + days * DAY_MS) });

test("a return is withdrawn when a later, surer touch shows that nothing new brought the user", async () => {
  await setRules(RETURNS);
  await register();
  await click("new", { oaid: "u", ...onDay(1) }, NOW_MS + DAY_MS);
  await register(NOW_MS + 2 * DAY_MS, { ad_data: { bd_vid: "v" } });
  await click("old", { company: "baidu", bd_vid: "v" }, NOW_MS + 2 * DAY_MS);
  await expectDecided([{ number: 1, aid: undefined, flags: [] }]);
});

test("a withdrawn return gives the user back to the return before it", async () => {
  await setRules(RETURNS);
  await register();
  await click("first", { oaid: "u", ...onDay(1) }, NOW_MS + DAY_MS);
  await register(NOW_MS + 2 * DAY_MS);
  await click("second", { oaid: "u", ...onDay(3) }, NOW_MS + 3 * DAY_MS);
  await register(NOW_MS + 4 * DAY_MS, { ad_data: { bd_vid: "v" } });
  await click("old", { company: "baidu", bd_vid: "v" }, NOW_MS + 4 * DAY_MS);
  await expectDecided([
    { number: 1, aid: undefined, flags: [] },
    { number: 2, aid: "first", flags: [] },
  ]);
  expect((await rowsOf(stage.pool, "user_account"))[0]).toMatchObject({ aid: "first", decision_number: 2 });
});

test("a late touch of one return is decided before the next return, even if both come in one batch", async () => {
  await setRules(RETURNS);
  await register();
  await register(NOW_MS + 2 * DAY_MS);
  await click("late", { oaid: "u", ...onDay(1) }, NOW_MS + 4 * DAY_MS);
  await register(NOW_MS + 4 * DAY_MS);
  await expectDecided([
    { number: 1, aid: undefined, flags: [] },
    { number: 2, aid: "late", flags: [] },
  ]);
});
