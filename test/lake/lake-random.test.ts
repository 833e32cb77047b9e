import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DAY_MS, HOUR_MS, NOW_MS, pay, profile, track } from "../db/apply-stage.ts";
import { failingEngine, LakeStage } from "./lake-stage.ts";

let stage: LakeStage;
beforeAll(async () => {
  stage = await LakeStage.open();
});
afterAll(() => stage.close());

const clients = fc.constantFrom("a", "b", "c", "d");
/** Receipts go back and forth, as with several machines. */
const received = fc.constantFrom(-HOUR_MS, -1, 0, 1, 60_000, DAY_MS).map((ms) => NOW_MS + ms);
const times = fc.constantFrom(0, 1, -HOUR_MS, -2 * DAY_MS, 5 * HOUR_MS).map((ms) => NOW_MS + ms);
const orders = fc.constantFrom("o1", "o2", "o3");
const events = fc.oneof(
  fc.tuple(fc.constantFrom("e", "f"), fc.constantFrom({}, { n: 1 }, { n: 2 }), times).map((args) => track(...args)),
  fc.tuple(orders, fc.constantFrom(600, 99), fc.constant({}), times).map((args) => pay(...args)),
  fc.tuple(orders, times).map(([order, time]) => track("$RefundEvent", { $order_id: order, $pay_amount: 50 }, time)),
  fc.tuple(fc.constantFrom(1, 2), times).map(([level, time]) => profile("profile_set", { level }, time)),
);

/** "crash": what the lake does next fails halfway, and another process goes on. */
const acts = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("collect" as const),
      client: clients,
      at: received,
      sent: fc.array(events, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant("rename" as const), client: clients, to: clients, at: received }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("erase" as const), client: clients, at: received }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom("apply" as const, "write" as const, "turn" as const) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("crash" as const), after: fc.nat(4) }) },
);

type Act = typeof acts extends fc.Arbitrary<infer T> ? T : never;

async function perform(act: Act): Promise<void> {
  const { apply } = stage;
  if (act.act === "collect") await apply.collect(act.client, act.sent, { at: act.at, registered: "not_required" });
  if (act.act === "rename")
    await apply.append("reset_client_id", act.client, { new_client_id: act.to }, { at: act.at });
  if (act.act === "erase") await apply.append("erase", act.client, {}, { at: act.at });
  if (act.act === "apply") await apply.applyAll();
  if (act.act === "write") await stage.lake.catchUp();
  if (act.act === "turn") await stage.lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
  if (act.act === "crash") await crash(act.after);
  stage.nowMs += 60_000;
}

/** The lake writes until a call of the engine fails, before it or after it, and the next process takes over. */
async function crash(after: number): Promise<void> {
  await stage
    .newLake(failingEngine(stage.engine, after))
    .catchUp()
    .catch(() => {});
  stage.lake = stage.newLake();
  await stage.lake.begin();
}

test("whatever comes and whenever it is written, the files hold what the tables hold", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: 24 }), async (list) => {
      await stage.begin();
      for (const client of ["a", "b"]) await stage.apply.register(client);
      for (const act of list) await perform(act);
      await stage.apply.applyAll();
      // The first time begins the lake, if nothing has before.
      await stage.lake.catchUp();
      await stage.lake.catchUp();
      const { lake, tables } = await stage.both();
      expect(lake).toEqual(tables);
      expect(await stage.apply.count("lake_mark")).toBe(0);
      expect(await stage.apply.count("lake_late")).toBe(0);
      stage.lake = stage.newLake();
      await stage.lake.begin();
      expect(await stage.apply.count("lake_file")).toBe((await stage.files()).length);
    }),
    { numRuns: Number(process.env.LAKE_RUNS ?? 10) },
  );
});
