import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { loadAudit } from "../../src/db/audit-log.ts";
import { FailedSignIns } from "../../src/http/admin/failed-sign-ins.ts";
import { LIMITS } from "../../src/limits.ts";
import { log, migratedDatabase, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
let nowMs = 1_000_000;
let failures: FailedSignIns;
beforeAll(async () => {
  database = await migratedDatabase();
});
beforeEach(async () => {
  await database.pool.query("delete from audit_log");
  failures = new FailedSignIns({ pool: database.pool, clock: () => nowMs, log });
});
afterAll(() => database.drop());

async function entries() {
  await failures.written();
  return loadAudit(database.pool, { apps: "all", beforeId: 2 ** 40, limit: 1_000 });
}

test("failures from one address are one entry per hour, with their number, method and names", async () => {
  const startedMs = nowMs;
  failures.note({ address: "203.0.113.7", by: "password" });
  failures.note({ address: "203.0.113.7", by: "password", user: "ada" });
  nowMs += 60_000;
  failures.note({ address: "203.0.113.7", by: "one-time link" });
  expect(await entries()).toEqual([
    {
      auditId: expect.any(Number),
      atMs: startedMs,
      actor: "unknown",
      address: "203.0.113.7",
      appId: null,
      action: "session/sign-in failed",
      details: { failures: 3, by: ["password", "one-time link"], users: ["ada"], last_at_ms: nowMs },
    },
  ]);
  nowMs += 3_600_000;
  failures.note({ address: "203.0.113.7", by: "password" });
  expect((await entries()).map(({ details }) => details.failures)).toEqual([1, 3]);
});

test("failures from ever more addresses do not fill the log", async () => {
  for (let host = 0; host < 2_000; host += 1)
    failures.note({ address: `2001:db8:1:2::${host + 1}`, by: "admin token" });
  for (let host = 0; host < 200; host += 1) failures.note({ address: `203.0.113.${host}`, by: "admin token" });
  const found = await entries();
  expect(found).toHaveLength(LIMITS.failedSignInEntries + 1);
  // A customer has a whole /64; failures too late for an entry of their own are counted together.
  expect(found.map(({ address }) => address)).toEqual(expect.arrayContaining(["2001:db8:1:2::/64", "other addresses"]));
  // Written at least at every doubling.
  expect(found.at(-1)!.details.failures).toBeGreaterThanOrEqual(1_024);
  expect(found[0]!.details.failures).toBeGreaterThanOrEqual(128);
});

test("an entry names a few people at most", async () => {
  for (let person = 0; person < 30; person += 1)
    failures.note({ address: "203.0.113.7", by: "password", user: `person ${person}` });
  const [entry] = await entries();
  expect(entry!.details.users).toHaveLength(LIMITS.failedSignInNames);
});

test("a database that is away does not change the outcome of a sign-in", async () => {
  const gone = await migratedDatabase();
  await gone.drop();
  const away = new FailedSignIns({ pool: gone.pool, clock: () => nowMs, log });
  away.note({ address: "203.0.113.7", by: "password" });
  await expect(away.written()).resolves.toBeUndefined();
});
