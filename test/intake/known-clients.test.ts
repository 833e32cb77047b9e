import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { KnownClients } from "../../src/intake/known-clients.ts";
import { makeApp, migratedDatabase, type TempDatabase } from "../db/temp-database.ts";

let database: TempDatabase;
let app: App;
beforeAll(async () => {
  database = await migratedDatabase();
  app = await makeApp(database.pool);
});
afterAll(() => database.drop());

type Wish = { catchUp?: (partition: number) => Promise<number | undefined>; isReached?: boolean; isBehind?: boolean };

const newKnown = ({ catchUp, isReached = true, isBehind = false }: Wish = {}) =>
  new KnownClients({
    pool: database.pool,
    clientsMax: 1_000,
    partitionOf: () => 3,
    isBehind: () => isBehind,
    shared: catchUp && { catchUp, isReached: async () => isReached },
  });

async function apply(clientId: string): Promise<void> {
  await database.pool.query(
    "insert into user_account select (jsonb_populate_record(null::user_account, $1::jsonb)).*",
    [JSON.stringify({ ...(await emptyUser()), app_id: app.appId, client_id: clientId })],
  );
}

/** A value for every column. */
async function emptyUser(): Promise<Record<string, unknown>> {
  const { rows } = await database.pool.query(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
      where attrelid = 'user_account'::regclass and attnum > 0 and not attisdropped`,
  );
  const values: Record<string, unknown> = { text: "", bigint: 0, integer: 0, smallint: 0, boolean: true, jsonb: {} };
  values.date = "2024-06-15";
  return Object.fromEntries(rows.map(({ name, type }) => [name, values[type] ?? null]));
}

test("in a log that others append to, a client that is not found is looked up again once apply has caught up", async () => {
  const asked: number[] = [];
  const known = newKnown({
    catchUp: async (partition) => {
      asked.push(partition);
      await apply("late");
      return 7;
    },
  });
  expect([await known.check(app.appId, "late"), asked]).toEqual(["yes", [3]]);
  expect([await known.check(app.appId, "late"), asked]).toEqual(["yes", [3]]);
});

test("such a client is unregistered only when apply has caught up, and unknown when it has not", async () => {
  expect(await newKnown({ catchUp: async () => 7 }).check(app.appId, "nobody")).toBe("no");
  expect(await newKnown({ catchUp: async () => undefined }).check(app.appId, "nobody")).toBe("unknown");
  expect(await newKnown({ catchUp: async () => 7, isReached: false }).check(app.appId, "nobody")).toBe("unknown");
  expect(await newKnown({ catchUp: () => Promise.reject(new Error("away")) }).check(app.appId, "nobody")).toBe(
    "unknown",
  );
});

test("in a log of its own, a client that is not found is unregistered, unless apply is behind the start", async () => {
  expect(await newKnown().check(app.appId, "nobody")).toBe("no");
  expect(await newKnown({ isBehind: true }).check(app.appId, "nobody")).toBe("unknown");
});

test("a client that is forgotten while it is looked up is not remembered", async () => {
  await apply("going");
  const known = newKnown();
  const checking = known.check(app.appId, "going");
  known.forget(app.appId, "going");
  expect([await checking, known.isKnown(app.appId, "going")]).toEqual(["yes", false]);
  expect([await known.check(app.appId, "going"), known.isKnown(app.appId, "going")]).toEqual(["yes", true]);
  known.forgetAll();
  expect(known.isKnown(app.appId, "going")).toBe(false);
});
