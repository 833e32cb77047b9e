import { setImmediate as yieldToLoop } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UsageError } from "../../../src/errors.ts";
import type { LogItem } from "../../../src/journal/entry-log.ts";
import type { JetStreamLog } from "../../../src/journal/jetstream/jetstream-log.ts";
import { eventually } from "../../support/patience.ts";
import { bodiesOf, entryOf } from "../temp-journal.ts";
import { Nats } from "./nats.ts";

const STREAM = "test-0";

let nats: Nats;
beforeEach(async () => {
  nats = await Nats.start(3);
});
afterEach(() => nats.stop());

async function readAll(log: JetStreamLog): Promise<LogItem[]> {
  const until = await log.freshEnd(0);
  const reader = log.read(0, 0);
  const items: LogItem[] = [];
  for (let item = await reader.next(until); item; item = await reader.next(until)) items.push(item);
  await reader.close();
  return items;
}

/** Appends until told to stop; remembers what was acknowledged, with its position. */
function appendOn(log: JetStreamLog) {
  const acknowledged = new Map<string, number>();
  let isOn = true;
  const running = (async () => {
    for (let number = 0; isOn; number += 1) {
      // A log without a connection refuses at once; the connection needs its turn meanwhile.
      await yieldToLoop();
      const bodies = Array.from({ length: 20 }, (_, index) => `${number}.${index}`);
      await Promise.all(
        bodies.map((body) =>
          log.append(entryOf(body)).then(
            (position) => acknowledged.set(body, position),
            () => {},
          ),
        ),
      );
    }
  })();
  const stop = async () => {
    isOn = false;
    await running;
  };
  return { acknowledged, stop };
}

/** Everything acknowledged is where the acknowledgement said, and nothing is missing in between. */
async function expectKept(log: JetStreamLog, acknowledged: ReadonlyMap<string, number>): Promise<void> {
  // A reader fails while its server is away, and another one begins, as in apply.
  const bodies = bodiesOf(await eventually(() => readAll(log)));
  expect(bodies).not.toContain("damage");
  expect([...acknowledged].filter(([body, position]) => bodies[position - 1] !== body)).toEqual([]);
}

test("what was acknowledged is there after the leader was killed, and the others go on without it", async () => {
  const log = await nats.open();
  const { manager } = await nats.operator();
  const { acknowledged, stop } = appendOn(log);
  await eventually(() => expect(acknowledged.size).toBeGreaterThan(200));
  await nats.kill(await nats.leaderOf(manager, STREAM));
  const before = acknowledged.size;
  await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 200));
  await stop();
  await expectKept(log, acknowledged);
});

test("the end that a new leader tells is that of everything acknowledged", async () => {
  const log = await nats.open();
  const { connection, manager } = await nats.operator();
  const before = await nats.leaderOf(manager, STREAM);
  for (const body of ["a", "b", "c"]) await log.append(entryOf(body));
  await eventually(async () => {
    if ((await nats.leaderOf(manager, STREAM)) !== before) return;
    // Asked again as long as it leads: busy servers answer late or not at all.
    await connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${STREAM}`);
    throw new Error(`n${before} still leads.`);
  });
  // One that has not heard of the entries from the other.
  const other = await nats.open();
  expect(await eventually(() => other.freshEnd(0))).toBe(3);
});

test("without a majority entries are refused and none is acknowledged; with one they are taken again", async () => {
  const log = await nats.open();
  const { manager } = await nats.operator();
  const acknowledged = new Map([["first", await log.append(entryOf("first"))]]);
  const leader = await nats.leaderOf(manager, STREAM);
  const others = [0, 1, 2].filter((index) => index !== leader);
  for (const index of others) await nats.kill(index);
  await expect(log.append(entryOf("refused"))).rejects.toMatchObject({ reason: "overloaded", retryAfterS: 5 });
  nats.run(others[0]!);
  acknowledged.set("second", await eventually(() => log.append(entryOf("second"))));
  await expectKept(log, acknowledged);
});

test("a leader that freezes and goes on loses nothing that was acknowledged, or its version is refused", async () => {
  // Debian 12 has no other version.
  const refused = (error: UsageError) => error;
  const log = await nats.open({ versions: "agreeing" }).catch(refused);
  if (log instanceof UsageError) return expect(log.message).toMatch(/has the version 2\.(9|10)\./);
  const { manager } = await nats.operator();
  const { acknowledged, stop } = appendOn(log);
  for (let freezes = 0; freezes < 2; freezes += 1) {
    const began = acknowledged.size;
    await eventually(() => expect(acknowledged.size).toBeGreaterThan(began + 200));
    const index = await nats.leaderOf(manager, STREAM);
    nats.signal(index, "SIGSTOP");
    const before = acknowledged.size;
    await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 200));
    nats.signal(index, "SIGCONT");
    await eventually(async () => expect(await nats.isCurrent(manager, { stream: STREAM, index })).toBe(true));
  }
  await stop();
  await expectKept(log, acknowledged);
});
