import { afterAll, beforeAll, expect, test } from "vitest";
import type { DecodeThread } from "../../src/apply/entry/decode-thread.ts";
import { LIMITS } from "../../src/limits.ts";
import { ApplyStage, NOW_MS, pay, profile, track } from "../db/apply-stage.ts";
import { rowsOf } from "../db/temp-database.ts";
import { builtDecodeThread } from "./built-decode-thread.ts";

const USERS = 20;
const EVENT_BYTES = 50_000;
/** Enough for eight full batches, which make the backlog long, and for some more, which the thread decodes. */
const CALLS = Math.ceil((14 * LIMITS.applyBatchBytes) / (2 * EVENT_BYTES));

let stage: ApplyStage;
let thread: DecodeThread;
beforeAll(async () => {
  stage = await ApplyStage.open();
  thread = await builtDecodeThread();
});
afterAll(async () => {
  await stage.close();
  await thread.close();
});

/** What the tables hold. Properties are compared by their digest. */
async function stored(): Promise<Record<string, object[] | undefined>> {
  const tables = ["user_account", "user_day", "user_ad_day", "orders", "ledger_minute"];
  const rows = await Promise.all(tables.map((table) => rowsOf(stage.pool, table)));
  const { rows: events } = await stage.pool.query(
    "select client_id, at_ms, event, fingerprint, md5(properties_text) as digest from event order by 1, 2, 3, 4",
  );
  return { ...Object.fromEntries(tables.map((table, index) => [table, rows[index]])), events };
}

test("a long backlog leaves the same rows whether another thread decodes it or not", async () => {
  await stage.begin();
  for (let user = 0; user < USERS; user += 1) await stage.register(`c${user}`);
  for (let call = 0; call < CALLS; call += 1) {
    const client = `c${call % USERS}`;
    const long = { text: `长 ${call} `.padEnd(EVENT_BYTES, "x") };
    const events = [
      track("level_up", { ...long, [`name_${call % 7}`]: call }, NOW_MS + call),
      track(
        "$AdShow",
        { ...long, $ecpm: call / 8, $ad_type: "reward", $ad_unit_id: `unit ${call % 3}` },
        NOW_MS + call,
      ),
      profile("profile_set", { [`level_${call % 5}`]: call }),
      pay(`order ${call}`, 100 + call),
    ];
    await stage.collect(client, events, { at: NOW_MS + call });
    // A repeat, and a call that cannot be read, among the others.
    if (call % 50 === 9) await stage.collect(client, events, { at: NOW_MS + call });
    if (call % 50 === 19) await stage.append("collect", client, '{"event_list":', { at: NOW_MS + call });
  }
  await stage.applyAll();
  const inPlace = await stored();
  expect([inPlace.events, inPlace.orders].map((rows) => rows?.length)).toEqual([4 * CALLS, CALLS]);

  let handed = 0;
  const decode = thread.decode.bind(thread);
  thread.decode = (items) => {
    handed += items.length;
    return decode(items);
  };
  stage.decodeThread = thread;
  await stage.applyInSteps([]);
  expect(handed).toBeGreaterThan(CALLS / 10);
  expect(await stored()).toEqual(inPlace);
});
