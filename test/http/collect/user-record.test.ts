import { afterAll, beforeAll, expect, test } from "vitest";
import { newUser } from "../../../src/apply/facts/new-user.ts";
import type { App } from "../../../src/db/app.ts";
import { inTransaction } from "../../../src/db/engine/pool.ts";
import { insertUsers } from "../../../src/db/user-account.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { findUserRecords } from "../../../src/http/collect/user-record.ts";
import { KnownClients } from "../../../src/intake/known-clients.ts";
import { Progress } from "../../../src/intake/progress.ts";
import { migratedDatabase, type TempDatabase } from "../../db/temp-database.ts";

const APP = { appId: 1, timeZone: "Asia/Shanghai" } as App;

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

const register = (clientId: string) =>
  inTransaction(database.pool, (tx) =>
    insertUsers(tx, [newUser({ appId: 1, clientId }, 0, { ...APP, calendar: calendarOf(APP.timeZone) } as never)]),
  );

test("a look-up waits for registrations of the requested users, and for no others", async () => {
  const { pool } = database;
  const partitionOf = () => 0;
  const known = new KnownClients({ pool, clientsMax: 1_000, partitionOf, isBehind: () => false });
  const progress = new Progress({ applied: [0], partitionOf });
  const context = { pool, known, progress, applies: true };
  await register("known");
  for (const [position, client] of ["a", "b", "c"].entries()) known.journaled(1, client, 10 * (position + 1));
  expect(await findUserRecords(context, APP, ["known", "stranger"])).toMatchObject([{ client_id: "known" }]);
  const asked = findUserRecords(context, APP, ["b", "a"]);
  await register("a");
  await register("b");
  progress.advance({ partition: 0, position: 20 }, 0);
  expect(await asked).toMatchObject([{ client_id: "b" }, { client_id: "a" }]);
});
