import { afterAll, beforeAll, expect, test } from "vitest";
import { DutyLock } from "../../src/db/lock/duty-lock.ts";
import { noteNode } from "../../src/db/node.ts";
import { Server } from "../../src/db/server/server.ts";
import { connectionTo } from "../support/shared-server.ts";
import { log, migratedDatabase, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
let server: Server;
beforeAll(async () => {
  database = await migratedDatabase();
  server = new Server(connectionTo(database.name));
});
afterAll(() => database.drop());

const newDuty = (nodeId: string) => new DutyLock({ duty: "send", server, nodeId, log });

test("one process has the duty; another gets it once the first has ended or fallen silent", async () => {
  const [one, two, three] = [newDuty("one"), newDuty("two"), newDuty("three")];
  try {
    expect([await one.isOurs(), await two.isOurs(), await one.isOurs()]).toEqual([true, false, true]);
    await one.release();
    await expect.poll(() => two.isOurs()).toBe(true);
    const node = { host: "h", processId: 1, address: "a", roles: ["postback"], version: "1", trouble: "" };
    await noteNode(database.pool, { ...node, nodeId: "two" });
    await database.pool.query("update node set seen_at_ms = seen_at_ms - 11000");
    await expect.poll(() => three.isOurs()).toBe(true);
    await expect.poll(() => two.isOurs()).toBe(false);
  } finally {
    for (const duty of [one, two, three]) await duty.release();
  }
});
