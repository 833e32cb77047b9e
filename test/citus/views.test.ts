import { expect, test } from "vitest";
import { createViews } from "../../src/report/view/views.ts";
import { migratedDatabase } from "../db/temp-database.ts";

test("views for a role are refused, because the role could not read them on the workers", async () => {
  const database = await migratedDatabase();
  const creating = createViews(database.pool, { role: "bi", appId: undefined });
  await expect(creating).rejects.toThrow("do not work where Citus distributes the tables");
  await database.drop();
});
