import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import { inTransaction, openPool } from "../../src/db/engine/pool.ts";
import { claimOutbox } from "../../src/db/outbox.ts";
import { recordOutcomes } from "../../src/db/postback-outcome.ts";
import { laneOf } from "../../src/domain/postback/postback-book.ts";
import { log } from "../db/temp-database.ts";
import { PostbackStage } from "./postback-stage.ts";

let stage: PostbackStage;
let engine: OceanEngineStandIn;
beforeAll(async () => {
  stage = await PostbackStage.open();
  engine = await startOceanEngine({ clock: stage.clock });
});
beforeEach(() => stage.begin());
afterAll(async () => {
  await stage.close();
  await engine.close();
});

/** Longer than a busy machine takes from one statement to the next. */
const IDLE_MS = 2_000;

test("a sender frozen within a transaction does not hold its rows or any slices for ever", async () => {
  await stage.oceanEngine(engine.url);
  await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
  for (const client of ["held", "other"]) await stage.bring("bytedance", client);
  await stage.stage.applyAll();
  const lane = laneOf({ appId: stage.stage.app.appId, adPlatform: "bytedance", advertiserId: "" });
  const lease = { nowMs: stage.nowMs, leaseUntilMs: stage.nowMs + 60_000 };
  const [claimed] = await claimOutbox(stage.pool, { lane, ...lease, limit: 1 });

  // It has recorded its answer, holds the marked slices, and stops there.
  const { host, port, user, password, database } = stage.pool.options;
  const connection = { kind: "local", host: host!, port: port!, user: user!, password: String(password) } as const;
  const pool = openPool(
    { ...connection, database: database! },
    { log, connectionsMax: 1, name: "frozen", transactionIdleMs: IDLE_MS },
  );
  let [wake, hold] = [() => {}, () => {}];
  const holds = new Promise<void>((resolve) => (hold = resolve));
  const frozen = inTransaction(stage.ownPool(pool), async (tx) => {
    const accepted = { status: 1, reason: "", backCents: 0, dueAtMs: 0, acceptedDay: "2026-11-15" } as const;
    await recordOutcomes(tx, [{ ...claimed!, ...accepted }], stage.nowMs);
    await new Promise<void>((resolve) => {
      wake = resolve;
      hold();
    });
    await tx.query("select 1");
  });
  const ended = expect(frozen).rejects.toThrow();
  await Promise.race([holds, ended]);

  // The other sender marks the same slices.
  await stage.sendAll(stage.worker());
  expect(await stage.postbacks("client_id, status, attempts")).toEqual([
    { client_id: "held", status: 1, attempts: 2 },
    { client_id: "other", status: 1, attempts: 1 },
  ]);
  wake();
  await ended;
  expect(await stage.outbox()).toEqual([]);
});
