import { afterAll, beforeAll, expect, test } from "vitest";
import { wrongTotals } from "../../sim/chaos/promises/totals.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { claimOutbox } from "../../src/db/outbox.ts";
import { type PostbackOutcome, recordOutcomes } from "../../src/db/postback-outcome.ts";
import { createPostbackRule } from "../../src/db/postback-rule.ts";
import { POSTBACK_STATUS } from "../../src/domain/postback/postback.ts";
import { laneOf } from "../../src/domain/postback/postback-book.ts";
import { PostbackStage } from "../postback/postback-stage.ts";
import { pay } from "./apply-stage.ts";
import { countWaiting } from "./temp-database.ts";

let stage: PostbackStage;
beforeAll(async () => {
  stage = await PostbackStage.open();
});
afterAll(() => stage.close());

/** A user whose one payment has two postbacks: as a payment, and as the first one. */
async function twoOfOneOrder(): Promise<PostbackOutcome[]> {
  await stage.begin();
  const { appId } = stage.stage.app;
  await stage.pool.query("truncate postback_rule");
  for (const [moment, eventType] of [
    ["pay", "pay"],
    ["first_pay", "first_pay"],
  ] as const) {
    await createPostbackRule(
      stage.pool,
      {
        appId,
        adPlatform: "",
        campaignId: "",
        moment,
        eventType,
        code: "",
        conditions: {},
        shareBp: 10_000,
        value: { kind: "as_is" },
        windowDays: 30,
        enabled: true,
      },
      0,
    );
  }
  await stage.kuaishou("http://127.0.0.1:9");
  await stage.bring("kuaishou", "u");
  await stage.stage.collect("u", [pay("o", 600)]);
  await stage.stage.applyAll();
  const lane = laneOf({ appId, adPlatform: "kuaishou", advertiserId: "" });
  const lease = { nowMs: stage.nowMs, leaseUntilMs: stage.nowMs + 60_000, limit: 10 };
  const claimed = await claimOutbox(stage.pool, { lane, ...lease });
  expect(claimed).toHaveLength(2);
  const givenUp = { status: POSTBACK_STATUS.givenUp, reason: "no", backCents: 0, dueAtMs: 0, acceptedDay: null };
  return claimed.map((row) => ({ ...row, ...givenUp }));
}

const record = (outcome: PostbackOutcome, whenRecorded: () => Promise<void> = async () => {}) =>
  inTransaction(stage.pool, async (tx) => {
    await recordOutcomes(tx, [outcome], stage.nowMs);
    await whenRecorded();
  });

const untilOneWaits = () => expect.poll(() => countWaiting(stage.pool)).toBe(1);

const ACCEPTED = { status: POSTBACK_STATUS.accepted, reason: "", backCents: 600, acceptedDay: "2024-06-15" } as const;

test.each<[string, Partial<PostbackOutcome>, [status: number, backCents: number]]>([
  ["failed", {}, [2, 0]],
  ["accepted", ACCEPTED, [1, 600]],
])("an order shows both of its postbacks when the other is %s at the same moment", async (_, change, shown) => {
  const [first, second] = await twoOfOneOrder();
  let other: Promise<void> | undefined;
  await record({ ...first!, ...change }, async () => {
    other = record(second!);
    await untilOneWaits();
  });
  await other;
  const { rows } = await stage.pool.query("select postback_status, back_cents from orders");
  expect(rows).toEqual([{ postback_status: shown[0], back_cents: shown[1] }]);
  expect(await wrongTotals(stage.pool)).toEqual([]);
});
