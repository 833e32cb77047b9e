import { availableParallelism } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { elapsedMs, systemClock } from "../src/clock.ts";
import type { EventsQuestion } from "../src/contract/analysis/events.ts";
import { CopyOut } from "../src/db/engine/copy-out.ts";
import { onConnection } from "../src/db/engine/pool.ts";
import { openEventDays } from "../src/db/event-day.ts";
import { loadStoredProperties } from "../src/db/lake-file.ts";
import { addDays } from "../src/domain/calendar.ts";
import { Asker } from "../src/lake/asker.ts";
import { WRITING_THREADS } from "../src/lake/engine.ts";
import { EngineProcess } from "../src/lake/engine-process.ts";
import { Lake } from "../src/lake/lake.ts";
import { LakeFolder } from "../src/lake/lake-folder.ts";
import { MIB } from "../src/limits.ts";
import { createLog } from "../src/log.ts";
import { textOf } from "../src/report/analysis/duck-sql.ts";
import { eventsSql } from "../src/report/analysis/events-sql.ts";
import { funnelSql } from "../src/report/analysis/funnel-sql.ts";
import { retentionSql } from "../src/report/analysis/retention-sql.ts";
import type { Setup } from "./children.ts";
import { withDatabase } from "./database.ts";
import { type Cost, type Figure, type Measured, median } from "./figures.ts";
import { measureQuestionsBeside } from "./lake-beside.ts";

const DAYS = 30;
const USERS_PER_EVENT = 0.01;
const ROUNDS = 3;
const MEMORY_BYTES = 256 * MIB;
const ROWS_AT_ONCE = 1_000_000;

/** A question, and the plain statement on the table of events that answers it. */
type Asked = { name: string; what: string; target: string; statement: string; plain: string };

type Stage = { pool: pg.Pool; appId: number; lake: Lake; asker: Asker; folder: LakeFolder };

/**
 * Measures how fast events are written into files and asked, more of them at each scale, beside one plain statement on the
 * table of events. The database makes the events itself.
 */
export async function measureLake(setup: Setup): Promise<Measured> {
  const { sizes, scales } = setup;
  const lastDay = new Date(systemClock()).toISOString().slice(0, 10);
  const days = Array.from({ length: DAYS }, (_, back) => addDays(lastDay, -back));
  const writing: Cost["points"][number][] = [];
  const answers = new Map<string, { asked: Asked; points: Cost["points"][number][]; plainMs: number }>();
  let [bytesPerEvent, tableBytesPerEvent, copyPerS] = [0, 0, 0];
  // Earlier steps have stored events of the same app.
  await withDatabase(setup.dataDir, (pool) => pool.query("truncate event"));
  for (const scale of scales) {
    const events = Math.round((sizes.lakeEvents * scale) / scales.at(-1)!);
    await withLake(setup, async (stage) => {
      await fill(stage, days, events);
      const ms = await timed(() => writeAll(stage));
      writing.push({ scale, perUnit: (ms * 1_000) / events });
      bytesPerEvent = (await bytesOf(stage)) / events;
      tableBytesPerEvent = (await tableBytesOf(stage)) / events;
      copyPerS = (events * 1_000) / (await timed(() => copyOut(stage)));
      for (const asked of questions(days, stage.appId, await storedIn(stage, days))) {
        const answer = answers.get(asked.name) ?? { asked, points: [], plainMs: 0 };
        answers.set(asked.name, answer);
        answer.points.push({ scale, perUnit: await medianMs(() => put(stage, asked.statement)) });
        if (scale === scales.at(-1)) answer.plainMs = await timed(() => stage.pool.query(asked.plain));
      }
    });
  }
  const { figures, costs } = measuredOf(sizes.lakeEvents, {
    writing,
    bare: { copyPerS, tableBytesPerEvent },
    bytesPerEvent,
    answers: [...answers.values()],
  });
  const beside = await measureQuestionsBeside(setup, { ...rangeOf(days), ...COUNTS });
  return { figures: [...figures, ...beside], costs };
}

function measuredOf(events: number, { writing, bare, bytesPerEvent, answers }: Results): Measured {
  const last = <T>(list: readonly T[]): T => list.at(-1)!;
  const written: Figure = {
    name: "lake_writing",
    what: `events written to the lake (${events})`,
    unit: "events/s",
    ours: 1_000_000 / last(writing).perUnit,
    bare: bare.copyPerS,
    target: "≥ 200000/s",
    beside: "COPY of the events out of their table",
  };
  const size: Figure = {
    ...written,
    name: "lake_bytes",
    what: "bytes of an event in the lake",
    unit: "bytes",
    ours: bytesPerEvent,
    bare: bare.tableBytesPerEvent,
    beside: "the table of events with its indexes",
    target: "≤ 40",
  };
  const asked = answers.map(({ asked: { name, what, target }, points, plainMs }): Figure => {
    const beside = "one plain statement on the table of events";
    return {
      name,
      what: `${what} (${events} events)`,
      unit: "ms",
      ours: last(points).perUnit,
      bare: plainMs,
      target,
      beside,
    };
  });
  return {
    figures: [written, size, ...asked],
    costs: [
      { name: "lake_writing", what: "writing to the lake, by events", unit: "µs/event", points: writing },
      ...answers.map(({ asked: { name, what }, points }) => ({ name, what: `${what}, by events`, unit: "ms", points })),
    ],
  };
}

type Results = {
  writing: Cost["points"];
  bare: { copyPerS: number; tableBytesPerEvent: number };
  bytesPerEvent: number;
  answers: readonly Answered[];
};
type Answered = { asked: Asked; points: readonly Cost["points"][number][]; plainMs: number };

async function withLake(setup: Setup, work: (stage: Stage) => Promise<void>): Promise<void> {
  await withDatabase(setup.dataDir, async (pool) => {
    const folder = await LakeFolder.open(join(setup.dataDir, "lake"));
    const limits = { memoryBytes: MEMORY_BYTES, threads: availableParallelism(), root: folder.root };
    const [engine, answering] = [new EngineProcess({ ...limits, threads: WRITING_THREADS }), new EngineProcess(limits)];
    const journal = { id: "bench", partitionOf: () => 0 };
    const parts = {
      pool,
      folder,
      engine,
      journal,
      clock: systemClock,
      log: createLog("error"),
      assertRoom: async () => {},
    };
    const asker = new Asker({ engine: answering, root: folder.root, freeBytesMin: 0, msMax: 600_000 });
    const lake = new Lake(parts);
    await lake.begin();
    try {
      await work({ pool, appId: setup.app.appId, lake, asker, folder });
    } finally {
      engine.stop();
      answering.stop();
    }
  });
}

/**
 * Ordinary events of a game: 49 names, of which one has a tenth of the events, six properties, and two hundred thousand users
 * for twenty million events.
 */
async function fill({ pool, appId }: Stage, days: readonly string[], events: number): Promise<void> {
  await openEventDays(
    pool,
    days.map((day) => ({ day, receivedAtMs: Date.parse(day) })),
  );
  const [{ stored }] = (await pool.query("select count(*)::int as stored from event where app_id = $1", [appId])).rows;
  for (let from = stored; from < events; from += ROWS_AT_ONCE) {
    process.stderr.write(`storing events: ${from} of ${events}\n`);
    await pool.query(INSERT, [
      appId,
      days.at(-1),
      from,
      Math.min(events, from + ROWS_AT_ONCE),
      Math.round(events * USERS_PER_EVENT),
    ]);
  }
  await pool.query("vacuum analyze event");
  // As after a batch: it tells up to which receipt events are stored.
  await pool.query(
    `insert into journal_cursor (journal_id, partition, position, received_at_ms) values ('bench', 0, 1, $1)
      on conflict (journal_id, partition) do update set received_at_ms = excluded.received_at_ms`,
    [Date.parse(days[0]!) + 86_400_000],
  );
}

/**
 * `chance(k)` is a number that looks random and is always the same for a row. Derived from the number of the row itself, days
 * had one event each and users came on three days, which made every question easy.
 */
const chance = (seed: number) => `(hashint8extended(n, ${seed}) & 9007199254740991)`;
const INSERT = `insert into event (app_id, client_id, day, at_ms, fingerprint, type, event, properties_text, received_at_ms)
  select $1::int, 'player-' || lpad((${chance(1)} % $5::int)::text, 7, '0'), $2::date + (n % 30), at_ms, md5(n::text)::uuid, 'track',
    case when e < 10 then 'level_up' when e < 15 then '$MPShow' when e = 15 then '$PayEvent' else 'event_' || (${chance(2)} % 46) end,
    replace(replace(jsonb_build_object('level', p % 60, 'server', 's' || p % 8, 'score', p % 10000,
      'mode', (array['solo','duo','team'])[p % 3 + 1], '$os', (array['ios','android'])[p % 2 + 1],
      'hero', 'h' || p % 24)::text, ': ', ':'), ', ', ','), at_ms + 200
  from (select n, ${chance(3)} % 100 as e, ${chance(4)} as p,
      (extract(epoch from $2::date + (n % 30)) * 1000)::bigint - 28800000 + ${chance(5)} % 86400000 as at_ms
    from generate_series($3::int, $4::int - 1) n) made`;

/** Everything anew, as after an upgrade. */
async function writeAll({ pool, lake }: Stage): Promise<void> {
  await pool.query("delete from lake_file; delete from lake_mark; delete from lake_late; delete from lake_app");
  await lake.catchUp();
}

async function bytesOf({ pool }: Stage): Promise<number> {
  const { rows } = await pool.query("select sum(bytes)::bigint as bytes from lake_file where kind = 'events'");
  return Number(rows[0].bytes);
}

async function tableBytesOf({ pool }: Stage): Promise<number> {
  const parts =
    "select coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint as bytes from pg_inherits where inhparent = 'event'::regclass";
  return Number((await pool.query(parts)).rows[0].bytes);
}

async function copyOut({ pool, appId }: Stage): Promise<void> {
  await onConnection(pool, async (client) => {
    const rows = client.query(new CopyOut(`copy (select * from event where app_id = ${appId}) to stdout`));
    for await (const _ of rows);
  });
}

async function put({ pool, appId, asker }: Stage, statement: string): Promise<void> {
  await asker.ask({ read: pool, app: { appId, timeZone: "Asia/Shanghai" }, statement });
}

const LEVEL_UPS = { source: "event" as const, event: "level_up" };
const COUNTS: Omit<EventsQuestion, "date_list"> = {
  by: "day",
  series: [
    { ...LEVEL_UPS, measure: "count" },
    { ...LEVEL_UPS, measure: "users" },
  ],
};

function rangeOf(days: readonly string[]): Pick<EventsQuestion, "date_list"> {
  return { date_list: [days.at(-1)!, days[0]!] };
}

function storedIn({ pool, appId }: Stage, days: readonly string[]): Promise<Set<string>> {
  return loadStoredProperties(pool, { appId, fromDay: days.at(-1)!, toDay: days[0]! });
}

function questions(days: readonly string[], appId: number, stored: ReadonlySet<string>): Asked[] {
  const range = rangeOf(days);
  const events = (question: Omit<EventsQuestion, "date_list">) => textOf(eventsSql({ ...range, ...question }, stored));
  const ofApp = `from event where app_id = ${appId} and event = 'level_up' and type = 'track'`;
  return [
    {
      name: "lake_counts",
      what: "count and users of an event by day",
      target: "< 1000, ≤ 0.05",
      statement: events(COUNTS),
      plain: `select day, count(*), count(distinct client_id) ${ofApp} group by day`,
    },
    {
      name: "lake_split",
      what: "users of an event by a property",
      target: "< 1000, ≤ 0.05",
      statement: events({ by: "total", split: ["event$server"], series: [{ ...LEVEL_UPS, measure: "users" }] }),
      plain: `select properties_text::json ->> 'server', count(distinct client_id) ${ofApp} group by 1`,
    },
    {
      name: "lake_funnel",
      what: "three-step funnel within seven days",
      target: "< 2000, ≤ 0.05",
      statement: textOf(
        funnelSql({ ...range, window_minutes: 10_080, steps: ["$MPShow", "level_up", "$PayEvent"].map(step) }),
      ),
      plain: `with first as (select client_id, at_ms as t from event where app_id = ${appId} and event = '$MPShow'),
        second as (select f.client_id, f.t, min(e.at_ms) as u from first f join event e on e.app_id = ${appId} and e.client_id = f.client_id
          and e.event = 'level_up' and e.at_ms >= f.t and e.at_ms <= f.t + 604800000 group by 1, 2),
        third as (select s.client_id from second s join event e on e.app_id = ${appId} and e.client_id = s.client_id
          and e.event = '$PayEvent' and e.at_ms >= s.u and e.at_ms <= s.t + 604800000)
        select (select count(distinct client_id) from first), (select count(distinct client_id) from second),
          (select count(distinct client_id) from third)`,
    },
    {
      name: "lake_retention",
      what: "retention of 30 days",
      target: "< 2000, ≤ 0.05",
      statement: textOf(
        retentionSql({ ...range, by: "day", periods: 30, first: step("$MPShow"), back: step("level_up") }),
      ),
      plain: `with cohort as (select client_id, min(day) as day from event where app_id = ${appId} and event = '$MPShow' group by 1)
        select c.day, e.day - c.day, count(distinct e.client_id) from cohort c
        join event e on e.app_id = ${appId} and e.client_id = c.client_id and e.event = 'level_up' and e.day >= c.day group by 1, 2`,
    },
  ];
}

const step = (event: string) => ({ source: "event" as const, event });

async function medianMs(work: () => Promise<void>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await timed(work));
  return median(rounds);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = elapsedMs();
  await work();
  return elapsedMs() - startedMs;
}
