import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { StoredFigures } from "../../src/http/stored-figures.ts";
import { migratedDatabase, type TempDatabase } from "../db/temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

test("counts that take long do not look like a database that is away, and are shown once they are there", async () => {
  const figures = new StoredFigures({ pool: database.pool, clock: systemClock });
  const holder = await database.pool.connect();
  try {
    await holder.query("begin; lock table outbox in access exclusive mode");
    const text = await figures.text();
    expect(text).toContain("touchpoint_database_up 1\n");
    expect(text).not.toContain("touchpoint_postbacks_waiting");
    await holder.query("commit");
  } finally {
    holder.release();
  }
  await expect.poll(() => figures.text()).toContain("touchpoint_postbacks_waiting 0\n");
});

test("a database that is away is said to be, and nothing else of it", async () => {
  const { pool, drop } = await migratedDatabase();
  const figures = new StoredFigures({ pool, clock: systemClock });
  expect(await figures.text()).toContain("touchpoint_refresh_tokens_ending 0\n");
  await drop();
  const text = await figures.text();
  expect(text).toContain("touchpoint_database_up 0\n");
  expect(text).not.toContain("touchpoint_refresh_tokens_ending");
});
