import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { DutyLock } from "../../src/db/lock/duty-lock.ts";
import { Server } from "../../src/db/server/server.ts";
import { startLake } from "../../src/lake/lake-loop.ts";
import { MIB } from "../../src/limits.ts";
import { log } from "../db/temp-database.ts";
import { eventually } from "../support/patience.ts";
import { connectionTo } from "../support/shared-server.ts";
import { LakeStage } from "./lake-stage.ts";

let stage: LakeStage;
beforeAll(async () => {
  stage = await LakeStage.open();
  stage.hotDays = 3;
  await stage.begin();
});
afterAll(() => stage.close());

test("a process without the lake that holds older days leaves the writing to one that has it", async () => {
  await stage.freezeOne();
  const { apply } = stage;
  const dataDir = await mkdtemp(join(tmpdir(), "other-"));
  const server = new Server(connectionTo(apply.database.name));
  const warn = vi.spyOn(log, "warn");
  const running = startLake({
    config: { dataDir, diskFreeBytesMin: 0, lakeMemoryBytes: 256 * MIB, eventHotDays: 3 },
    log,
    clock: () => stage.nowMs,
    database: { kind: "external", server, direct: server },
    journal: { id: apply.journal.id, partitionOf: () => 0 },
    nodeId: "other",
    writtenBytes: () => 0,
  });
  const duty = new DutyLock({ duty: "lake", server, nodeId: "holder", log });
  try {
    await eventually(() => expect(warn.mock.calls.flat()).toContainEqual(expect.stringContaining("elsewhere")));
    await eventually(async () => expect(await duty.isOurs()).toBe(true));
    expect([running.isWriting(), running.obstacle()]).toEqual([false, undefined]);
  } finally {
    warn.mockRestore();
    await duty.release();
    await running.stop();
    await rm(dataDir, { recursive: true });
  }
});
