import type pg from "pg";
import { elapsedMs, systemClock } from "../src/clock.ts";
import { openTouchWeek } from "../src/db/touch-week.ts";
import { addDays, weekOf } from "../src/domain/calendar.ts";
import type { Setup } from "./children.ts";
import { withDatabase } from "./database.ts";
import { appendEntries, drain, type NewEntry } from "./drain.ts";
import { type Cost, type Measured, median } from "./figures.ts";

const WEEKS = 1;
const MILLION = 1_000_000;
const KEYS_AT_ONCE = 1_000;
const BARE_ROUNDS = 3;

type Options = Setup & { nowMs: number };

/** Registrations to decide: numbered from `first`, against this many touches. */
type Run = { first: number; touches: number };

/**
 * Measures how fast apply decides registrations against many stored touches, more of them at each scale. The database makes
 * the touches itself, with the keys that apply would have given them.
 */
export async function measureDecisions(setup: Setup): Promise<Measured> {
  const { sizes, scales } = setup;
  const options = { ...setup, nowMs: systemClock() };
  // Earlier steps may have left entries in the journal, which are not to be measured here.
  await drain(options);
  const points: Cost["points"][number][] = [];
  let stored = 0;
  let bare = 0;
  for (const [index, scale] of scales.entries()) {
    const touches = Math.round((sizes.touches * scale) / scales.at(-1)!);
    await storeTouches(options, { from: stored, until: touches });
    stored = touches;
    const run = { first: index * sizes.registrations, touches };
    bare = await lookUpBare(options, run);
    await appendEntries(options, registrations(options, run));
    points.push({ scale, perUnit: ((await drain(options)).ms * 1000) / sizes.registrations });
  }
  return {
    figures: [
      {
        name: "decisions",
        what: `decisions against ${stored} touches`,
        unit: "decisions/s",
        ours: 1_000_000 / points.at(-1)!.perUnit,
        bare,
        target: "≥ 8000/s",
        beside: "one key of each looked up in the index",
      },
    ],
    costs: [{ name: "decisions", what: "decisions, by touches stored", unit: "µs/decision", points }],
  };
}

/** Stores click `c<n>` on device `o<n>`, spread over the last seven days, so that each of them can win. */
async function storeTouches(
  { app, dataDir, nowMs }: Options,
  { from: first, until }: { from: number; until: number },
): Promise<void> {
  await withDatabase(dataDir, async (pool) => {
    for (let back = 0; back <= WEEKS; back += 1) await openTouchWeek(pool, addDays(weekOf(nowMs), -7 * back));
    for (let from = first; from < until; from += MILLION) {
      process.stderr.write(`storing touches: ${from} of ${until}\n`);
      await insertTouches(pool, { appId: app.appId, nowMs, from, until: Math.min(until, from + MILLION) });
    }
    await pool.query("vacuum analyze touch, touch_key");
  });
}

async function insertTouches(
  pool: pg.Pool,
  { appId, nowMs, from, until }: { appId: number; nowMs: number; from: number; until: number },
): Promise<void> {
  const made = `select n, ($2::bigint - (n::bigint * 7919 % 604000) * 1000 - 1000) as at_ms from generate_series($3::int, $4::int - 1) n`;
  const week = "(date_trunc('week', to_timestamp(at_ms / 1000.0) at time zone 'UTC'))::date";
  const values = [appId, nowMs, from, until];
  await pool.query(
    `insert into touch (app_id, touch_id, week, kind, ad_platform, touched_at_ms, received_at_ms, turbo_promoted_object_id,
        channel, advertiser_id, gid, aid, cid, csite, ip, details)
      select $1::int, md5('t' || n)::uuid, ${week}, 'click', 'tencent', at_ms, at_ms, 'abcdefgh12345678', '', '26531', '9001',
        (71000 + n % 50)::text, (81000 + n % 200)::text, 'SITE_SET_WECHAT', '10.1.2.3',
        jsonb_build_object('click_id', 'c' || n, 'oaid', 'o' || n, 'callback', 'http://tracking.e.qq.com/conv?cb=' || n)
      from (${made}) made`,
    values,
  );
  await pool.query(
    `insert into touch_key (app_id, key_value, touched_at_ms, touch_id, week)
      select $1::int, key::uuid, at_ms, md5('t' || n)::uuid, ${week}
      from (${made}) made cross join lateral (values
        (md5(E'click_key\\ntencent\\nc' || n)), (md5(E'oaid\\n' || md5('o' || n))), (md5(E'address\\n' || n))) as keys (key)`,
    values,
  );
}

/** The touch that a registration comes from; a tenth of the registrations have none. */
function touchOf(number: number, { touches }: Run): string {
  return number % 10 === 9 ? "none" : String((number * 104_729) % touches);
}

/** Keys per second that the database finds when it does nothing else. */
async function lookUpBare({ app, dataDir, sizes }: Options, run: Run): Promise<number> {
  const names = Array.from({ length: sizes.registrations }, (_, index) => `c${touchOf(run.first + index, run)}`);
  return withDatabase(dataDir, async (pool) => {
    const perSecond: number[] = [];
    for (let round = 0; round < BARE_ROUNDS; round += 1) {
      const startedMs = elapsedMs();
      for (let from = 0; from < names.length; from += KEYS_AT_ONCE) {
        await pool.query(
          `select touch_id from unnest($2::text[]) as wanted (name)
            join touch_key k on k.app_id = $1 and k.key_value = md5(E'click_key\\ntencent\\n' || name)::uuid`,
          [app.appId, names.slice(from, from + KEYS_AT_ONCE)],
        );
      }
      perSecond.push((names.length * 1000) / (elapsedMs() - startedMs));
    }
    return median(perSecond);
  });
}

/** Half of the registrations carry a click id, half a device id. */
function* registrations({ app, nowMs, sizes }: Options, run: Run): Iterable<NewEntry> {
  for (let number = run.first; number < run.first + sizes.registrations; number += 1) {
    const touch = touchOf(number, run);
    const source =
      number % 2 === 0
        ? { ad_data: { gdt_vid: `c${touch}` } }
        : {
            device_info: { os_name: "android", oaid: `o${touch}`, imei: `8600000${number}`, android_id: `a${number}` },
          };
    const body = { client_id: `decided-${number}`, name: "n", channel: "bench", version: 1, ...source };
    const head = { app: app.appId, client: body.client_id, at: nowMs, ip: "10.1.2.3", ua: "bench" };
    yield { head: { kind: "register", registered: "yes", ...head }, body: Buffer.from(JSON.stringify(body)) };
  }
}
