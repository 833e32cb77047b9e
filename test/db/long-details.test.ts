import { afterAll, beforeAll, expect, test } from "vitest";
import { loadDecisions } from "../../src/db/attribution-decision.ts";
import { ApplyStage, HOUR_MS, NOW_MS } from "./apply-stage.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
  await stage.begin();
});
afterAll(() => stage.close());

async function click(parameters: Record<string, string | number>): Promise<void> {
  const query = new URLSearchParams({ company: "vivo", oaid: "u" });
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  await stage.append("click", "", query.toString(), { at: Number(parameters.ts) });
}

test("a click with long details decides as others do, and its details are kept", async () => {
  // Long details are not read together with the keys of a batch.
  const callback = `https://callback.example/${"c".repeat(4_000)}`;
  await click({ ts: NOW_MS - HOUR_MS, aid: "short" });
  await click({ ts: NOW_MS - HOUR_MS + 1, aid: "long", callback });
  await stage.applyAll();
  await stage.register("u", { device_info: { os_name: "android", oaid: "u" } }, { at: NOW_MS });
  await stage.applyAll();
  const [decision] = await loadDecisions(stage.pool, { appId: stage.app.appId, clientId: "u" });
  expect(decision!.candidates.map(({ touch, outcome }) => [touch.aid, outcome])).toEqual([
    ["long", "won"],
    ["short", "later_touch_won"],
  ]);
  const { rows } = await stage.pool.query("select details from touch where aid = 'long'");
  expect(Object.values(rows[0].details)).toContain(callback);
});
