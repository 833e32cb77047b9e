import { afterAll, beforeAll, expect, test } from "vitest";
import { listTables } from "../../src/db/engine/catalog.ts";
import { loadNodes, type Node, noteNode, removeNode } from "../../src/db/node.ts";
import { migratedDatabase, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

const node = (nodeId: string, more: Partial<Node> = {}): Node => ({
  nodeId,
  host: "a-machine",
  processId: 7,
  address: "http://127.0.0.1:8080",
  roles: ["http", "apply"],
  version: "1.2.3",
  trouble: "",
  ...more,
});

const started = async () => (await loadNodes(database.pool)).map(({ nodeId, startedAtMs }) => [nodeId, startedAtMs]);

test("a process is listed until it leaves, and a restart of it is a start", async () => {
  await noteNode(database.pool, node("one"));
  await noteNode(database.pool, node("two", { host: "b-machine" }));
  const [first, second] = await loadNodes(database.pool);
  expect([first, second]).toMatchObject([node("one"), node("two", { host: "b-machine" })]);
  expect(first!.silentMs).toBeLessThan(60_000);
  const before = await started();
  await noteNode(database.pool, node("one"));
  expect(await started()).toEqual(before);
  await noteNode(database.pool, node("one", { processId: 8 }));
  expect((await started())[0]![1]).toBeGreaterThan(Number(before[0]![1]));
  await removeNode(database.pool, "two");
  expect((await loadNodes(database.pool)).map(({ nodeId }) => nodeId)).toEqual(["one"]);
});

test("a process that is silent for an hour is forgotten", async () => {
  await noteNode(database.pool, node("silent"));
  const silence = (ms: number) =>
    database.pool.query("update node set seen_at_ms = seen_at_ms - $1 where node_id = 'silent'", [ms]);
  await silence(3_000_000);
  const listed = async () => (await loadNodes(database.pool)).find(({ nodeId }) => nodeId === "silent");
  expect((await listed())?.silentMs).toBeGreaterThanOrEqual(3_000_000);
  await silence(700_000);
  expect(await listed()).toBeUndefined();
  await removeNode(database.pool, "another");
  expect((await database.pool.query("select 1 from node where node_id = 'silent'")).rows).toEqual([]);
});

test("a backup does without them", async () => {
  expect((await listTables(database.pool, "durable")).map(({ name }) => name)).not.toContain("node");
});
