import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { loadDecisions } from "../../src/db/attribution-decision.ts";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import type { Rules } from "../../src/domain/attribution-rules.ts";
import { readAll } from "../journal/temp-journal.ts";
import { ApplyStage, HOUR_MS, NOW_MS } from "./apply-stage.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const setRules = (rules: Partial<Rules>) =>
  storeRuleSettings(stage.pool, { appId: stage.app.appId, platform: "", rules, changedAtMs: NOW_MS });

/** A click an hour before NOW_MS, reported at NOW_MS. */
async function click(aid: string, more: Record<string, string> = {}): Promise<void> {
  const ts = String(NOW_MS - HOUR_MS);
  const query = new URLSearchParams({ company: "vivo", ts, aid, click_id: aid, ip: "203.0.113.9", ...more });
  await stage.append("click", "", query.toString());
}

const DEVICE = { os_name: "android", oaid: "u" };
const register = () => stage.register("u", { device_info: DEVICE });

type Told = { number: number; aid: string | undefined; flags: readonly string[] };

/** What each decision on the user came to, with the journal in one batch and with every entry in a batch of its own. */
async function decided(): Promise<{ inOne: Told[]; inMany: Told[] }> {
  const ends = (await readAll(stage.journal.dir, stage.journal.durable)).map((item) => item.until);
  const told = async (): Promise<Told[]> =>
    (await loadDecisions(stage.pool, { appId: stage.app.appId, clientId: "u" })).map(
      ({ number, candidates, flags }) => ({
        number,
        aid: candidates.find(({ outcome }) => outcome === "won")?.touch.aid,
        flags,
      }),
    );
  await stage.applyInSteps([]);
  const inOne = await told();
  await stage.applyInSteps(ends);
  return { inOne, inMany: await told() };
}

test("a flood that stands behind a registration flags no touch of it, in the same batch or in a later one", async () => {
  await setRules({ floodPerAddress: 2 });
  await click("own", { oaid: "u" });
  await register();
  for (const aid of ["f1", "f2", "f3"]) await click(aid);
  const { inOne, inMany } = await decided();
  expect(inMany).toEqual([{ number: 1, aid: "own", flags: [] }]);
  expect(inOne).toEqual(inMany);
});

test.each<[string, () => Promise<unknown>]>([
  ["the user's own entry", () => stage.append("device_info", "u", { data: DEVICE })],
  ["a touch that shares a key with the user", () => click("late", { oaid: "u", ts: String(NOW_MS - 2 * HOUR_MS) })],
])("a flood counts as soon as %s stands behind it", async (_, hear) => {
  await setRules({ floodPerAddress: 2 });
  await click("own", { oaid: "u" });
  await register();
  for (const aid of ["f1", "f2", "f3"]) await click(aid);
  await hear();
  await click("f4");
  const { inOne, inMany } = await decided();
  expect(inMany).toEqual([{ number: 1, aid: "own", flags: ["flood_address"] }]);
  expect(inOne).toEqual(inMany);
});
