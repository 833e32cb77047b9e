import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { audit, FLAWLESS, Load } from "../../sim/chaos/nodes/load.ts";
import { decodeEntry } from "../../src/journal/entry.ts";
import { plainBody } from "../../src/journal/packed-body.ts";
import { JournalReader } from "../../src/journal/reader.ts";
import { attemptStart } from "../process/launch.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

const ROUNDS = 6;

test("after kill -9 at any moment nothing acknowledged is missing, nothing is stored twice, and every sum adds up", async () => {
  const dataDir = prepareDataDir();
  let server = await TouchpointProcess.start({ dataDir });
  const app = await server.createApp();
  const load = new Load(app);
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      load.begin(server.url);
      await load.reach(load.acknowledged.size + 50 + Math.random() * 250);
      await sleep(Math.random() * 10);
      await server.kill();
      await load.pause();
      // Now and then the next start is killed too, somewhere on its way.
      if (round % 3 === 0) await killWhileStarting(dataDir, 100 + Math.random() * 900);
      server = await TouchpointProcess.start({ dataDir });
      // Every other round goes on at once, so that a kill also meets a server that is still catching up.
      if (round % 2 === 0) {
        await server.settle();
        const pool = server.database();
        expect(await audit(pool, app, load), `after round ${round}`).toEqual(FLAWLESS);
        await pool.end();
      }
    }
    await load.finish(server.url);
    await server.settle();
    const pool = server.database();
    expect(await audit(pool, app, load)).toEqual(FLAWLESS);
    const ledger = async (outcome: string) => {
      const text = "select coalesce(sum(events), 0)::int as events from ledger_minute where outcome = $1";
      return (await pool.query(text, [outcome])).rows[0].events;
    };
    const [received, duplicate] = [await ledger("received"), await ledger("duplicate")];
    await pool.end();
    expect(received, "every entry of the journal has taken effect once").toBe(await eventsInJournal(dataDir));
    // The rounds met what they are about: a real load, lost answers, repeated bodies.
    expect(load.acknowledged.size).toBeGreaterThan(ROUNDS * 50);
    expect(load.counts.lost).toBeGreaterThan(ROUNDS);
    expect(duplicate).toBeGreaterThan(0);
  } finally {
    await load.pause();
    await server.kill();
    await cleanUp(dataDir);
  }
});

test("kill -9 while a long backlog is being applied neither loses nor repeats any of it", async () => {
  const dataDir = prepareDataDir();
  let server = await TouchpointProcess.start({ dataDir, env: { ROLES: "http" } });
  try {
    const app = await server.createApp();
    const sent = new Set<string>();
    const bodies = 20;
    for (let body = 0; body < bodies; body += 1) {
      const events = Array.from({ length: 1_000 }, (_, index) => {
        const marker = `${body}-${index}`;
        sent.add(marker);
        return { type: "track", event: "backlog", time: Date.now() - index, properties: { marker } };
      });
      expect((await server.register(app, `c${body}`)).code).toBe(0);
      expect((await server.collect(app, `c${body}`, events)).code).toBe(0);
    }
    await server.kill();
    for (let round = 0; round < 3; round += 1) await killWhileStarting(dataDir, 400 + Math.random() * 1_200);
    server = await TouchpointProcess.start({ dataDir });
    await server.settle();
    const pool = server.database();
    const registered = Array.from({ length: bodies }, (_, body) => `c${body}`);
    expect(await audit(pool, app, { sent, acknowledged: sent, registered, complaints: [] })).toEqual(FLAWLESS);
    await pool.end();
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});

test("a client whose registration is in the journal but not in the tables is known after kill -9 too", async () => {
  const dataDir = prepareDataDir();
  const env = { ROLES: "http" };
  let server = await TouchpointProcess.start({ dataDir, env });
  try {
    const app = await server.createApp();
    const collect = async (clientId: string, marker: string) =>
      (await server.collect(app, clientId, [{ type: "track", event: "e", time: Date.now(), properties: { marker } }]))
        .code;
    expect(await collect("stranger", "never")).toBe(2000);
    expect((await server.register(app, "c")).code).toBe(0);
    expect(await collect("c", "before")).toBe(0);
    await server.kill();
    server = await TouchpointProcess.start({ dataDir, env });
    expect(await collect("c", "after")).toBe(0);
    // Nothing can be known about a stranger now: the event is accepted, and judged by apply in the order of the journal.
    expect(await collect("stranger", "stray")).toBe(0);
    await server.kill();
    server = await TouchpointProcess.start({ dataDir });
    await server.settle();
    expect(await collect("stranger", "never")).toBe(2000);
    const pool = server.database();
    const told = { complaints: [], registered: ["c"], sent: new Set(["before", "after"]) };
    expect(await audit(pool, app, { ...told, acknowledged: told.sent })).toEqual(FLAWLESS);
    const { rows } = await pool.query("select outcome, events::int from ledger_minute where outcome = 'unregistered'");
    await pool.end();
    expect(rows).toEqual([{ outcome: "unregistered", events: 1 }]);
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});

/** The number of events in all bodies that ever reached the journal. */
async function eventsInJournal(dataDir: string): Promise<number> {
  const reader = new JournalReader(join(dataDir, "journal"), 0);
  let events = 0;
  for (;;) {
    const items = await reader.read({ until: Number.MAX_SAFE_INTEGER, bytesMax: 1024 * 1024 });
    if (items.length === 0) break;
    for (const item of items) {
      expect(item.kind).toBe("record");
      const entry = decodeEntry(item.payload);
      if (entry.head.kind === "collect") events += JSON.parse(plainBody(entry).toString()).event_list.length;
    }
  }
  await reader.close();
  return events;
}

async function killWhileStarting(dataDir: string, afterMs: number): Promise<void> {
  const attempt = attemptStart({ DATA_DIR: dataDir });
  await sleep(afterMs);
  await attempt.end("SIGKILL");
}
