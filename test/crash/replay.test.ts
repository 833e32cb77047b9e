import { appendFileSync, closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { startEmbeddedPostgres } from "../../src/db/engine/embedded.ts";
import { FACT_TABLES } from "../../src/db/facts.ts";
import { createLog } from "../../src/log.ts";
import { cliProcessJson } from "../cli/run.ts";
import { packAll } from "../journal/temp-journal.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { sendEverything } from "./everything.ts";

/** Tokens that wait for Apple's answer are a queue: their number of attempts is not in the journal. */
const DUMPED = [
  ...FACT_TABLES.filter((table) => table !== "asa_token"),
  ...["touch", "touch_key", "touch_week", "event", "event_day", "event_meta", "property_meta", "journal_cursor"],
];

test("the whole journal, packed and applied once more in one go, gives the same tables", async () => {
  const dataDir = prepareDataDir();
  const server = await TouchpointProcess.start({ dataDir });
  try {
    await sendEverything(server);
    await server.settle();
    expect(await server.stop()).toBe(0);
    const before = await dump(dataDir);
    for (const table of DUMPED.filter((name) => name !== "set_aside")) {
      expect(before[table]!.length, `rows of ${table}`).toBeGreaterThan(0);
    }
    // As the server packs what is applied, once there is more of it.
    await packAll(join(dataDir, "journal"));
    const replayed = await cliProcessJson(dataDir, ["journal", "replay", "--all"]);
    expect(replayed).toEqual({ bytes: Number(before.journal_cursor![0]!.position), set_aside: 0 });
    expect(await dump(dataDir)).toEqual(before);
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});

test("a damaged range of the journal is set aside, everything around it is applied, and a replay gives the same", async () => {
  const dataDir = prepareDataDir();
  let server = await TouchpointProcess.start({ dataDir, env: { ROLES: "http" } });
  try {
    const app = await server.createApp();
    await server.register(app, "c");
    for (let marker = 0; marker < 12; marker += 1) {
      const event = { type: "track", event: "kept", time: Date.now(), properties: { marker } };
      expect((await server.collect(app, "c", [event])).code).toBe(0);
    }
    expect(await server.stop()).toBe(0);
    const { applied, segments, entries } = await cliProcessJson(dataDir, ["journal", "inspect", "--entries", "20"]);
    expect({ applied, segments: segments.length, entries: entries.length }).toEqual({
      applied: 0,
      segments: 1,
      entries: 13,
    });
    // Entry 0 is the registration. Three kinds of damage: the beginning, the length, one byte of the content.
    const damaged = [entries[3], entries[6], entries[9]];
    const bytes = readFileSync(segments[0].segment);
    bytes.write("XXXX", damaged[0].from);
    bytes.writeUInt32LE(0x7fffffff, damaged[1].from + 4);
    bytes[damaged[2].from + 60]! ^= 1;
    overwrite(segments[0].segment, bytes);
    // Also a record that the crash has cut short.
    appendFileSync(segments[0].segment, bytes.subarray(entries[1].from, entries[1].from + 40));

    server = await TouchpointProcess.start({ dataDir });
    await server.settle();
    expect(server.output).toMatch(/torn tail/);
    const pool = server.database();
    const { rows } = await pool.query("select (properties_text::json->>'marker')::int as marker from event order by 1");
    await pool.end();
    expect(rows.map((row) => row.marker)).toEqual([0, 1, 3, 4, 6, 7, 9, 10, 11]);
    const inspected = await cliProcessJson(dataDir, ["journal", "inspect"]);
    expect(inspected.segments).toMatchObject([{ state: "applied", bytes: bytes.length }]);
    expect(inspected.set_aside).toMatchObject(
      damaged.map(({ from, bytes }: { from: number; bytes: number }) => ({
        from,
        until: from + bytes,
        reason: "The bytes are not a journal record.",
        state: "waiting",
        bytes,
      })),
    );
    expect(
      (await server.collect(app, "c", [{ type: "track", event: "after", time: Date.now(), properties: {} }])).code,
    ).toBe(0);
    await server.settle();
    expect(await server.stop()).toBe(0);

    const before = await dump(dataDir);
    expect(await cliProcessJson(dataDir, ["journal", "replay", "--all"])).toMatchObject({ set_aside: 3 });
    expect(await dump(dataDir)).toEqual(before);
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});

function overwrite(path: string, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, 0);
  closeSync(file);
}

type Dump = Record<string, Record<string, unknown>[]>;

/** Every row of every table that the journal decides, in a fixed order, while no server runs. */
async function dump(dataDir: string): Promise<Dump> {
  const postgres = await startEmbeddedPostgres({ dataDir, log: createLog("silent") });
  const { kind: _, ...connection } = postgres.connection as { kind: "local" } & pg.ClientConfig;
  const client = new pg.Client(connection);
  try {
    await client.connect();
    const tables: Dump = {};
    for (const table of DUMPED) {
      const { rows } = await client.query(`select to_jsonb(t) as row from ${table} t order by to_jsonb(t)::text`);
      tables[table] = rows.map(({ row }) => row);
    }
    return tables;
  } finally {
    await client.end();
    await postgres.stop();
  }
}
