import { afterAll, beforeAll, expect, test } from "vitest";
import { claimAsaTokens } from "../../src/db/asa-token.ts";
import { claimOutbox } from "../../src/db/outbox.ts";
import { makeApp, migratedDatabase, type TempDatabase } from "./temp-database.ts";

const ROWS = 10;
const LEASE = { nowMs: 100, leaseUntilMs: 1_000, limit: 3 };

let database: TempDatabase;
let appId: number;
beforeAll(async () => {
  database = await migratedDatabase();
  ({ appId } = await makeApp(database.pool));
});
afterAll(() => database.drop());

/** The sizes at which the database has last looked at the table. It chooses the plan by them. */
const KNOWN_ROWS = [0, 1, 2, ROWS];

test.each(KNOWN_ROWS)("only the wanted postbacks are claimed from a table that had %i rows", async (known) => {
  await fill("outbox", known, (from, to) =>
    database.pool.query(
      `insert into outbox (lane, app_id, client_id, event_type, subject, due_at_ms, attempts, in_flight, content)
       select $1::int || ' lane', $1, 'c' || n, 'pay', '', n, 0, false, '{}' from generate_series($2::int, $3::int) n`,
      [appId, from, to],
    ),
  );
  const claimed = await claimOutbox(database.pool, { lane: `${appId} lane`, ...LEASE });
  expect(claimed.map(({ clientId }) => clientId).sort()).toEqual(["c1", "c2", "c3"]);
});

test.each(KNOWN_ROWS)("only the wanted tokens of Apple are claimed from a table that had %i rows", async (known) => {
  await fill("asa_token", known, (from, to) =>
    database.pool.query(
      `insert into asa_token
         (app_id, client_id, token, token_digest, received_at_ms, attempts, due_at_ms, outcome)
       select $1, 'c' || n, 't', '', 0, 0, n, '' from generate_series($2::int, $3::int) n`,
      [appId, from, to],
    ),
  );
  const claimed = await claimAsaTokens(database.pool, { appId, ...LEASE });
  expect(claimed.map(({ clientId }) => clientId).sort()).toEqual(["c1", "c2", "c3"]);
});

async function fill(table: string, known: number, insert: (from: number, to: number) => Promise<unknown>) {
  await database.pool.query(`truncate ${table}`);
  await insert(1, known);
  await database.pool.query(`analyze ${table}`);
  await insert(known + 1, ROWS);
}
