import { statfs } from "node:fs/promises";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { AppBacklog } from "../../src/intake/app-backlog.ts";
import { Intake } from "../../src/intake/intake.ts";
import { Progress } from "../../src/intake/progress.ts";
import { Refusals } from "../../src/intake/refusals.ts";
import type { EntryHead } from "../../src/journal/entry.ts";
import { createLog } from "../../src/log.ts";
import { entryOf, newFolder, openJournal, removeFolders } from "../journal/temp-journal.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});
afterAll(removeFolders);

const newProgress = () => new Progress({ applied: [0], partitionOf: () => 0 });

/** An intake into a journal that no process applies, except as the test says. */
async function open(limits: { diskFreeBytesMin?: number; backlogBytesMax?: number }) {
  const [progress, backlog, refusals] = [newProgress(), new AppBacklog(), new Refusals(() => 0)];
  const journal = await openJournal(newFolder(), {
    onAppended: ({ partition, until, byApp }) => backlog.written({ partition, position: until }, byApp, 0),
  });
  const bounds = { diskFreeBytesMin: 0, backlogBytesMax: 1e12, ...limits };
  const intake = new Intake({
    journal,
    dir: journal.dir,
    progress,
    backlog,
    refusals,
    log: createLog("silent"),
    ...bounds,
  });
  await intake.start();
  ends.push(
    () => intake.stop(),
    () => journal.close(),
  );
  const send = (app: number, head: Partial<EntryHead> = {}, body = "x".repeat(1_000)) => {
    const entry = entryOf(body, { app, ...head });
    return intake.accept(entry.head, entry.body);
  };
  const apply = (position: number) => {
    progress.advance({ partition: 0, position }, 0);
    backlog.applied({ partition: 0, position });
  };
  return { send, apply, refusals, intake };
}

const REFUSED = { reason: "overBudget", retryAfterS: 10 };

describe("when the backlog is over half of its limit", () => {
  test("an app with more than an even share of it is refused, and the others go on", async () => {
    const { send, apply, refusals } = await open({ backlogBytesMax: 40_000 });
    await send(2);
    while (
      await send(1).then(
        () => true,
        () => false,
      )
    );
    await expect(send(1)).rejects.toMatchObject(REFUSED);
    for (let count = 0; count < 5; count += 1) await send(2);
    await send(3);
    expect(refusals.list()).toMatchObject([{ appId: 1, refusal: "backlog" }]);
    const last = await send(3);
    apply(last);
    await send(1);
  });

  test("an entry counts by its unpacked size", async () => {
    const { send } = await open({ backlogBytesMax: 40_000 });
    await send(2);
    await send(1, { gzip: 30_000 });
    await expect(send(1)).rejects.toMatchObject(REFUSED);
    await send(2);
  });

  test("entries of the server itself are never refused", async () => {
    const { send } = await open({ backlogBytesMax: 40_000 });
    await send(2);
    await send(1, { gzip: 30_000 });
    await send(1, { kind: "erase" }, "{}");
    await send(1, { kind: "apple_attribution" }, "{}");
    await expect(send(1)).rejects.toMatchObject(REFUSED);
  });

  test("the only app that writes goes on, because it shares with nobody", async () => {
    const { send } = await open({ backlogBytesMax: 40_000 });
    await send(1, { gzip: 30_000 });
    await send(1);
  });

  test("everyone is refused once it is full", async () => {
    const { send, intake } = await open({ backlogBytesMax: 3_000 });
    for (const app of [1, 2, 3]) await send(app, {}, "x".repeat(app === 1 ? 2_000 : 400)).catch(() => {});
    await send(9, {}, "x".repeat(3_000)).catch(() => {});
    expect(intake.obstacle()).toMatch(/journal is full/);
    await expect(send(10)).rejects.toMatchObject({ reason: "overloaded" });
  });
});

describe("when the disk is getting short", () => {
  /** Free space is slightly above the minimum. */
  const scarce = async () => {
    const { bavail, bsize } = await statfs(newFolder());
    return { diskFreeBytesMin: Math.floor(bavail * bsize * 0.9) };
  };

  test("an app that has recently written more than an even share is refused, and the others go on", async () => {
    const { send, refusals } = await open(await scarce());
    await send(1);
    await send(2, {}, "x".repeat(3_000));
    await expect(send(2)).rejects.toMatchObject(REFUSED);
    await send(1);
    await send(3);
    expect(refusals.list()).toMatchObject([{ appId: 2, refusal: "disk" }]);
  });

  test("the only app goes on, because it shares with nobody", async () => {
    const { send } = await open(await scarce());
    for (let count = 0; count < 3; count += 1) await send(1);
  });
});
