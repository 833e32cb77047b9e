import { afterAll, beforeAll, expect, test } from "vitest";
import { NOW_MS, pay, track } from "../db/apply-stage.ts";
import { PostbackStage } from "../postback/postback-stage.ts";

let stage: PostbackStage;
beforeAll(async () => {
  stage = await PostbackStage.open();
});
afterAll(() => stage.close());

/** What the coordinator has noted of transactions that it prepared elsewhere. It forgets them after a while. */
async function prepared(): Promise<string[]> {
  const { rows } = await stage.pool.query("select gid from pg_dist_transaction");
  return rows.map(({ gid }) => gid);
}

test("an app's transactions are committed in one phase, because they concern one machine", async () => {
  const apply = stage.stage;
  await stage.kuaishou("http://127.0.0.1:9");
  // Opens the days and weeks, which are tables on every machine.
  await stage.bring("kuaishou", "first");
  await apply.collect("first", [track("e")]);
  await apply.applyAll();
  const before = new Set(await prepared());
  await stage.bring("kuaishou", "second");
  await apply.append("click", "", "company=vivo&callback=x&oaid=o", { at: NOW_MS });
  for (const client of ["first", "second"])
    await apply.collect(client, [
      pay(`o-${client}`, 600),
      track("f"),
      track("$AdShow", { $ecpm: 5, $ad_unit_id: "u" }),
    ]);
  await apply.applyAll();
  expect((await prepared()).filter((gid) => !before.has(gid))).toEqual([]);
  expect(await apply.ledger()).toEqual({ received: 7, stored: 7 });
  expect(await apply.count("orders")).toBe(2);
  expect(await apply.count("outbox")).toBeGreaterThan(0);
});
