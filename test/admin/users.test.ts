import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { replaySetAside } from "../../src/admin/operation/set-aside.ts";
import { type Erasing, eraseUser } from "../../src/admin/report/users.ts";
import { countRequested, setAside } from "../../src/db/set-aside.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

const erased: string[] = [];
const erasing = (more: Partial<Erasing<string>> = {}): Erasing<string> => ({
  isKnown: () => true,
  erase: async ({ clientId }) => {
    expect(await notes()).toContainEqual({ action: "users/erase", appId: app_id, details: { app_id, client_id: "…" } });
    erased.push(clientId);
    return clientId;
  },
  ...more,
});
const notes = async () => (await stage.audit()).slice(1);

test("an erasure is noted before it is made, and does not name whom", async () => {
  expect(await eraseUser(stage.desk, { app_id, client_id: 7 }, erasing())).toBe("7");
  expect(await notes()).toHaveLength(1);
  expect(erased.splice(0)).toEqual(["7"]);
});

test("nobody is erased when that cannot be noted, nor somebody who is unknown", async () => {
  await stage.withoutAuditLog(async () => {
    await expect(eraseUser(stage.desk, { app_id, client_id: "u" }, erasing())).rejects.toThrow(/audit_log/);
  });
  const before = await stage.count("audit_log");
  const stranger = erasing({ isKnown: () => false });
  await expect(eraseUser(stage.desk, { app_id, client_id: "u" }, stranger)).rejects.toThrow(/no user/);
  await expect(eraseUser(stage.desk, { app_id: 99, client_id: "u" }, erasing())).rejects.toThrow(/no app 99/);
  await expect(eraseUser(stage.desk, { app_id, client_id: "" }, erasing())).rejects.toThrow(/client_id/);
  expect(erased).toEqual([]);
  expect(await stage.count("audit_log")).toBe(before);
});

test("a replay of what was set aside is requested and noted together, or neither", async () => {
  const entry = {
    journalId: "j",
    partition: 0,
    appId: null,
    receivedAtMs: null,
    reason: "",
    payload: Buffer.from("x"),
  };
  await setAside(
    stage.pool,
    [1, 2].map((from) => ({ ...entry, from, until: from + 1 })),
  );
  await stage.withoutAuditLog(async () => {
    await expect(replaySetAside(stage.desk, {}, "all")).rejects.toThrow(/audit_log/);
  });
  expect(await countRequested(stage.pool)).toBe(0);
  expect(await replaySetAside(stage.desk, { ids: [1] }, "all")).toBe(1);
  expect(await replaySetAside(stage.desk, {}, "all")).toBe(1);
  expect((await notes()).slice(-2)).toEqual([
    { action: "set-aside/replay", appId: null, details: { ids: [1] } },
    { action: "set-aside/replay", appId: null, details: {} },
  ]);
  await expect(replaySetAside(stage.desk, { ids: [] }, "all")).rejects.toThrow(/^ids must/);
});
