import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { holdDays } from "../../src/db/apply-holder.ts";
import type { ColdWish } from "../../src/db/cold-event.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { openEventDays } from "../../src/db/event-day.ts";
import { countFacts } from "../../src/db/facts.ts";
import { forgetLakes } from "../../src/db/lake-app.ts";
import { ReportReads } from "../../src/db/replica/report-reads.ts";
import { assertColdDays } from "../../src/lake/cold-start.ts";
import { Lake } from "../../src/lake/lake.ts";
import { LakeFolder } from "../../src/lake/lake-folder.ts";
import { verifyLake } from "../../src/lake/verify.ts";
import { MIB } from "../../src/limits.ts";
import { readTimeline, readTimelineWish } from "../../src/report/user/timeline.ts";
import { DAY_MS, NOW_MS, pay, profile, track } from "../db/apply-stage.ts";
import { bytesOf, log } from "../db/temp-database.ts";
import { LakeStage, OLD_DAY, OLD_MS } from "./lake-stage.ts";

let stage: LakeStage;
beforeAll(async () => {
  stage = await LakeStage.open();
  stage.hotDays = 3;
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

/** The states of the days that events have come for. */
async function states(): Promise<Record<string, string>> {
  const { rows } = await stage.apply.pool.query("select day::text, state from event_day order by day");
  return Object.fromEntries(rows.map(({ day, state }) => [day, state]));
}

const inTable = () => stage.apply.count("event");
const inFiles = async () => (await stage.rowsOf("events")).map((row) => [row.day, row.client_id, row.event]);

const bytesOfOldDay = () => bytesOf(stage.apply.pool, "event_20240606");

async function freezeOne(): Promise<void> {
  await stage.freezeOne();
  expect(await states()).toEqual({ [OLD_DAY]: "cold", "2024-06-15": "open" });
}

describe("a day", () => {
  test("becomes cold when it is old enough, and only once its files hold all of it", async () => {
    const { apply, lake } = stage;
    await apply.register("a");
    await apply.collect("a", [track("old", {}, OLD_MS), track("new")]);
    await apply.applyAll();
    expect(await lake.freeze()).toBe(false);
    await lake.catchUp();
    await lake.catchUp();
    await apply.collect("a", [track("late", {}, OLD_MS + 1)]);
    await apply.applyAll();
    // The last event is marked, and not written yet.
    expect(await lake.freeze()).toBe(false);
    expect(await inTable()).toBe(3);
    await lake.catchUp();
    expect(await lake.freeze()).toBe(true);
    expect(await states()).toEqual({ [OLD_DAY]: "cold", "2024-06-15": "open" });
    expect(await inTable()).toBe(1);
    expect(await inFiles()).toHaveLength(3);
  });

  test("whose files differ from the table stays there, and is written again", async () => {
    const { apply, lake } = stage;
    await apply.register("a");
    await apply.collect("a", [track("old", {}, OLD_MS)]);
    await apply.applyAll();
    await lake.catchUp();
    await lake.catchUp();
    await apply.pool.query("update event set properties_text = '{\"n\": 2}'");
    expect(await lake.freeze()).toBe(false);
    expect(await apply.count("lake_mark")).toBe(1);
    await lake.catchUp();
    expect(await lake.freeze()).toBe(true);
    expect((await stage.rowsOf("events")).map((row) => row.properties)).toEqual(['{"n": 2}']);
  });

  test("that somebody reads in a snapshot waits for the reader", async () => {
    const { apply, lake } = stage;
    await apply.register("a");
    await apply.collect("a", [track("old", {}, OLD_MS)]);
    await apply.applyAll();
    await lake.catchUp();
    await lake.catchUp();
    await inTransaction(
      apply.pool,
      async (tx) => {
        await holdDays(tx);
        expect(await lake.freeze()).toBe(false);
        expect((await tx.query("select 1 from event")).rows).toHaveLength(1);
      },
      "snapshot",
    );
    expect(await lake.freeze()).toBe(true);
  });

  test("takes a small part of its space once it is cold", async () => {
    const { apply, lake } = stage;
    await apply.register("a");
    await apply.collect("a", [track("old", {}, OLD_MS)]);
    await apply.applyAll();
    await openEventDays(apply.pool, [{ day: OLD_DAY, receivedAtMs: NOW_MS }]);
    // On a cluster every shard takes some pages, with events or without.
    const empty = await bytesOfOldDay();
    await apply.pool.query(
      `insert into event select ${apply.app.appId}, 'client-' || n % 2000, '${OLD_DAY}', ${OLD_MS} + n, gen_random_uuid(), 'track',
        'level_' || n % 30, jsonb_build_object('level', n % 60, 'scene', 'scene-' || n % 7, 'version', '1.2.' || n % 5), ${NOW_MS}
        from generate_series(1, 40000) n`,
    );
    await lake.catchUp();
    await lake.catchUp();
    const before = (await bytesOfOldDay()) - empty;
    await lake.freeze();
    const [file] = (await stage.files()).filter(({ kind }) => kind === "events");
    expect(file!.rows).toBe(40_001);
    // A random id, which nothing makes smaller, is 16 of them.
    expect(file!.bytes / file!.rows).toBeLessThan(40);
    expect((await bytesOfOldDay()) - empty + file!.bytes).toBeLessThan(before / 5);
  });
});

describe("a cold day", () => {
  test("knows its events again, and takes later ones until it is written anew", async () => {
    await freezeOne();
    const { apply, lake } = stage;
    await apply.collect("a", [track("old", { n: 1 }, OLD_MS), track("late", {}, OLD_MS + 5)]);
    await apply.applyAll();
    expect(await apply.ledger()).toEqual({ received: 4, stored: 3, duplicate: 1 });
    expect(await inTable()).toBe(2);
    await lake.catchUp();
    expect([await inTable(), await apply.count("lake_mark")]).toEqual([1, 0]);
    expect(await inFiles()).toContainEqual([OLD_DAY, "a", "late"]);
  });

  test("is counted again when a user turns out to come from a click", async () => {
    const { apply, lake } = stage;
    await apply.register("a", { device_info: { os_name: "android", oaid: "o-a" } });
    await apply.collect("a", [track("old", {}, OLD_MS), track("$AdShow", { $ecpm: 12.5 }, OLD_MS + 1), track("new")]);
    await apply.applyAll();
    await lake.catchUp();
    await lake.catchUp();
    expect(await lake.freeze()).toBe(true);
    const counted = async () =>
      (
        await apply.pool.query(
          "select day::text, sum(track_events)::int as events, sum(ad_micros)::int as micros from user_day group by 1 order by 1",
        )
      ).rows;
    const before = await counted();
    expect(before).toEqual([
      { day: OLD_DAY, events: 2, micros: 12_500 },
      { day: "2024-06-15", events: 1, micros: 0 },
    ]);
    const click = { company: "vivo", ts: String(NOW_MS - 30 * 3_600_000), oaid: "o-a" };
    await apply.append("click", "", new URLSearchParams(click).toString(), { at: NOW_MS });
    await apply.applyAll();
    const { rows } = await apply.pool.query("select touched_at_ms from user_account");
    expect(rows).toEqual([{ touched_at_ms: NOW_MS - 30 * 3_600_000 }]);
    expect(await counted()).toEqual(before);
  });

  test("holds up apply while its files cannot be read, and no entry is set aside", async () => {
    await freezeOne();
    const { apply, folder } = stage;
    const [file] = (await stage.files()).filter(({ kind, day }) => kind === "events" && day === OLD_DAY);
    const path = folder.pathOf(file!);
    const away = join(folder.root, "away.parquet");
    await rename(path, away);
    await apply.collect("a", [track("old", { n: 1 }, OLD_MS)]);
    await expect(apply.applyAll()).rejects.toMatchObject({ code: "COLD_UNREADABLE" });
    // Nobody forgets the file, or writes the day from what is left.
    stage.lake = stage.newLake();
    await stage.lake.begin();
    expect((await stage.files()).map(({ name }) => name)).toContain(file!.name);
    const { days } = await verifyLake({ ...stage, pool: apply.pool }, apply.app.appId);
    expect(days.filter(({ outcome }) => outcome !== "equal")).toMatchObject([{ day: OLD_DAY, outcome: "different" }]);
    await mkdir(dirname(path), { recursive: true });
    await rename(away, path);
    await apply.applyAll();
    expect([await apply.ledger(), await apply.setAside()]).toEqual([{ received: 3, stored: 2, duplicate: 1 }, []]);
  });

  test("gives its events to renames and erasures, and knows them again, although a clock was ahead", async () => {
    await freezeOne();
    const { apply } = stage;
    // The user came by a clock that was five days ahead of the one of the lake.
    await apply.pool.query(`update lake_file set written_at_ms = ${NOW_MS - 5 * DAY_MS}`);
    await apply.collect("a", [track("old", { n: 1 }, OLD_MS)]);
    await apply.append("reset_client_id", "a", { new_client_id: "b" }, { at: NOW_MS + 1 });
    await apply.applyAll();
    expect(await apply.ledger()).toEqual({ received: 3, stored: 2, duplicate: 1 });
    expect([await inTable(), await apply.count("lake_gone")]).toEqual([2, 1]);
  });

  test("is asked about an older user whatever the lake has written since", async () => {
    const { apply } = stage;
    for (const end of ["reset_client_id", "erase"] as const) {
      await stage.begin();
      await freezeOne();
      await apply.pool.query(
        `update lake_file set written_at_ms = ${NOW_MS} + case when day = '${OLD_DAY}' then -5 else 20 end * ${DAY_MS}`,
      );
      await apply.append(end, "a", { new_client_id: "b" }, { at: NOW_MS + 20 * DAY_MS });
      await apply.applyAll();
      expect(await apply.count("lake_gone")).toBe(1);
    }
  });

  test("is not read for a rename soon after the first entry of a user", async () => {
    await freezeOne();
    const { apply, engine } = stage;
    await apply.pool.query(
      `update lake_file set written_at_ms = ${NOW_MS} - case when day = '${OLD_DAY}' then 5 else 0 end * ${DAY_MS}`,
    );
    const asked = vi.spyOn(engine, "rows");
    await apply.register("n");
    await apply.append("reset_client_id", "n", { new_client_id: "b" }, { at: NOW_MS + 1 });
    await apply.applyAll();
    expect(asked.mock.calls).toEqual([]);
    asked.mockRestore();
  });

  test("gives of its events only the type and the properties that are wanted", async () => {
    const { apply, lake, cold } = stage;
    await apply.register("a");
    const sent = [track("one", { n: 1 }, OLD_MS), track("two", { n: 2 }, OLD_MS + 1)];
    await apply.collect("a", [...sent, profile("profile_set", { n: 3 }, OLD_MS + 2)]);
    await apply.applyAll();
    await lake.catchUp();
    await lake.catchUp();
    expect(await lake.freeze()).toBe(true);
    const load = async (wish: Partial<ColdWish>) =>
      (await cold.load(apply.pool, { appId: apply.app.appId, ...wish })).map(({ properties }) => properties).sort();
    expect(await load({})).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
    expect(await load({ type: "track", propertiesOf: ["two"] })).toEqual(['{"n":2}', "{}"]);
    expect(await load({ type: "track", propertiesOf: [] })).toEqual(["{}", "{}"]);
  });

  test("is gone from the lake once it is dropped", async () => {
    await freezeOne();
    const { apply, lake } = stage;
    await apply.append("erase", "a", {});
    await apply.applyAll();
    expect(await apply.count("lake_gone")).toBe(1);
    await apply.applier.dropDaysBefore("2024-06-10");
    await lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
    expect(await states()).toMatchObject({ [OLD_DAY]: "dropped" });
    expect([await inFiles(), await apply.count("lake_gone")]).toEqual([[], 0]);
  });

  test("keeps its files when everything else about the lake is forgotten, and the lake goes on with them", async () => {
    await freezeOne();
    const { apply } = stage;
    await apply.append("reset_client_id", "a", { new_client_id: "b" });
    await apply.applyAll();
    await inTransaction(apply.pool, forgetLakes);
    expect((await stage.files()).map(({ day }) => day)).toEqual([OLD_DAY]);
    stage.lake = stage.newLake();
    await stage.lake.begin();
    await stage.lake.catchUp();
    await stage.lake.catchUp();
    expect(await inFiles()).toEqual([
      [OLD_DAY, "b", "old"],
      ["2024-06-15", "b", "new"],
    ]);
    expect(await countFacts(apply.pool)).toMatchObject({ events: 2 });
  });

  test("is not read for a page of a timeline that newer days fill", async () => {
    await freezeOne();
    const { apply, cold } = stage;
    await apply.collect("a", [track("newer")]);
    await apply.applyAll();
    const load = vi.spyOn(cold, "load");
    const page = async (limit: string) => {
      const wish = readTimelineWish("a", { kinds: "event", limit });
      return (await readTimeline(apply.pool, apply.app, wish, cold))!.items.length;
    };
    expect([await page("1"), load.mock.calls.length]).toEqual([1, 0]);
    expect([await page("5"), load.mock.calls.length]).toEqual([3, 1]);
    load.mockRestore();
  });

  test("gives back the space of events that came for it and are in its files now", async () => {
    await freezeOne();
    const { apply } = stage;
    const before = await bytesOfOldDay();
    await apply.pool.query(
      `insert into event select ${apply.app.appId}, 'b', '${OLD_DAY}', ${OLD_MS} + n, gen_random_uuid(), 'track', 'e', '{}', 0
        from generate_series(1, 20000) n`,
    );
    await apply.pool.query("delete from event where client_id = 'b'");
    expect(await bytesOfOldDay()).toBeGreaterThan(MIB);
    stage.lake = stage.newLake();
    await stage.lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
    expect(await bytesOfOldDay()).toBe(before);
  });

  test("is counted by verify from its files", async () => {
    await freezeOne();
    const { apply } = stage;
    const checked = await verifyLake({ ...stage, pool: apply.pool }, apply.app.appId);
    expect(checked).toMatchObject({ events: 2, ledger: 2 });
    expect(new Set(checked.days.map(({ outcome }) => outcome))).toEqual(new Set(["equal"]));
  });

  test("begins anew in the table when the journal is applied from the beginning", async () => {
    await freezeOne();
    await stage.apply.applyInSteps([]);
    expect(await states()).toEqual({ [OLD_DAY]: "open", "2024-06-15": "open" });
    expect([await inTable(), await stage.apply.count("lake_file")]).toEqual([2, 0]);
  });
});

describe("another process", () => {
  test("with another folder neither takes the lake over nor starts, and says where the days are", async () => {
    await freezeOne();
    const { apply, engine } = stage;
    const dataDir = await mkdtemp(join(tmpdir(), "other-"));
    const folder = await LakeFolder.open(join(dataDir, "lake"));
    const journal = { id: apply.journal.id, partitionOf: () => 0 };
    const clock = () => stage.nowMs;
    const lake = new Lake({ pool: apply.pool, folder, engine, journal, clock, log, assertRoom: async () => {} });
    await expect(lake.begin()).rejects.toThrow(`Older days are only in the lake ${stage.folder.id}`);
    const config = { dataDir, eventHotDays: 0, roles: new Set(["apply", "lake"] as const) };
    await expect(assertColdDays(apply.pool, config)).rejects.toThrow(stage.folder.id);
    expect(await assertColdDays(apply.pool, { ...config, roles: new Set(["http"] as const) })).toBeUndefined();
    expect((await stage.files()).map(({ day }) => day)).toContain(OLD_DAY);
    await rm(dataDir, { recursive: true });
  });
});

test("what holds days is read on the primary while days are cold or become so, and else on the replica", async () => {
  const { apply, cold } = stage;
  const away = new pg.Pool();
  const pools = { quiet: apply.pool, busy: apply.pool };
  const replica = { reading: { pool: away, lagMs: 0 } };
  const options = { pools, replica, cold, isBusy: () => false };
  const isPrimary = async (freezesDays: boolean) => {
    const reads = new ReportReads({ ...options, freezesDays });
    expect(reads.current().pool).toBe(away);
    const read = await reads.readWithDays(async ({ pool }) => pool === apply.pool);
    expect((await reads.currentWithDays()).pool === apply.pool).toBe(read);
    return read;
  };
  expect([await isPrimary(false), await isPrimary(true)]).toEqual([false, true]);
  await freezeOne();
  expect([await isPrimary(false), await isPrimary(true)]).toEqual([true, true]);
});

test("without cold days, a batch asks nothing about them", async () => {
  const { apply } = stage;
  await apply.register("a");
  await apply.collect("a", [track("e"), pay("o", 1)]);
  await apply.applyAll();
  const watch = vi.spyOn(pg.Client.prototype, "query");
  await apply.collect("a", [track("f"), track("e")]);
  await apply.applyAll();
  const texts = watch.mock.calls.map(([given]) => (typeof given === "string" ? given : (Object(given).text as string)));
  watch.mockRestore();
  expect(texts.some((text) => /lake_app/.test(text))).toBe(true);
  expect(texts.filter((text) => /event_day|lake_gone|lake_file/.test(text))).toEqual([]);
});
