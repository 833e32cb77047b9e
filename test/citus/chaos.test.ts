import { afterAll, beforeAll, expect, test } from "vitest";
import { runChaos } from "../../sim/chaos/chaos.ts";
import { PROCESS_KILLS } from "../../sim/chaos/faults/kills.ts";
import { isFlawless, tallyOf } from "../../sim/chaos/tally.ts";
import { createDatabase, type TempDatabase } from "../db/temp-database.ts";
import { databaseUrl } from "../support/shared-server.ts";

const SEED = 20_261_118;

let database: TempDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

test("after each kill of a process under the market's load all ten promises hold", async () => {
  const outcomes = await runChaos({
    rounds: PROCESS_KILLS.length,
    faults: PROCESS_KILLS,
    seed: SEED,
    form: "short",
    peoplePerS: 6,
    replayEvery: PROCESS_KILLS.length,
    databaseUrl: databaseUrl(database.name),
  });
  expect(
    outcomes.flatMap(({ fault, violations, failure = [] }) => [violations, failure].flat().map((one) => [fault, one])),
  ).toEqual([]);
  const tally = tallyOf(outcomes);
  expect(isFlawless(tally)).toBe(true);
  expect(tally.events).toMatchObject({ lost: 0, doubled: 0 });
  const { rows } = await database.pool.query(
    "select count(*)::int as count from citus_tables where table_name = 'event'::regclass",
  );
  expect(rows).toEqual([{ count: 1 }]);
});
