import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { elapsedMs } from "../src/clock.ts";
import { openTouchWeek } from "../src/db/touch-week.ts";
import { addDays, weekOf } from "../src/domain/calendar.ts";
import { Journal, realDisk } from "../src/journal/journal.ts";
import { createLog } from "../src/log.ts";
import { type Setup, startChild } from "./children.ts";
import { type Row, withDatabase } from "./database.ts";

const REGISTRATIONS = 100_000;
const WEEKS = 1;
const MILLION = 1_000_000;

type Options = Setup & {
  appId: number;
  nowMs: number;
  millions: number;
};

/**
 * How fast apply decides 100,000 registrations against many stored touches: first against a million, then against all.
 * The touches are made by the database itself, with the keys that apply would have given them.
 */
export async function measureDecisions(options: Options): Promise<{ rows: Row[]; figures: Record<string, number> }> {
  const { millions } = options;
  // What earlier steps have left in the journal is not what is measured here.
  await drain(options);
  await storeTouches(options, { from: 0, until: MILLION });
  const few = await decide(options, { first: 0, touches: MILLION });
  await storeTouches(options, { from: MILLION, until: millions * MILLION });
  const many = await decide(options, { first: REGISTRATIONS, touches: millions * MILLION });
  const ratio = Math.round((many / few) * 100) / 100;
  return {
    figures: { decisions_1m_per_s: few, decisions_per_s: many, decisions_growth_ratio: ratio },
    rows: [
      { what: "decisions/s against 1 million touches", bare: "", ours: few, ratio: "", target: "" },
      { what: `decisions/s against ${millions} million`, bare: few, ours: many, ratio, target: "≥ 3000/s, flat" },
    ],
  };
}

/** Click `c<n>` on the device `o<n>`, spread over the last seven days: each of them can win. */
async function storeTouches({ appId, dataDir, nowMs }: Options, range: { from: number; until: number }): Promise<void> {
  await withDatabase(dataDir, async (pool) => {
    for (let back = 0; back <= WEEKS; back += 1) await openTouchWeek(pool, addDays(weekOf(nowMs), -7 * back));
    for (let from = range.from; from < range.until; from += MILLION) {
      process.stderr.write(`storing touches: ${from / MILLION} of ${range.until / MILLION} million\n`);
      await insertMillion(pool, { appId, nowMs, from });
    }
    await pool.query("vacuum analyze touch, touch_key");
  });
}

async function insertMillion(pool: pg.Pool, at: { appId: number; nowMs: number; from: number }): Promise<void> {
  const { appId, nowMs, from } = at;
  const made = `select n, ($2::bigint - (n::bigint * 7919 % 604000) * 1000 - 1000) as at_ms from generate_series($3::int, $3::int + 999999) n`;
  const week = "(date_trunc('week', to_timestamp(at_ms / 1000.0) at time zone 'UTC'))::date";
  await pool.query(
    `insert into touch (app_id, touch_id, week, kind, ad_platform, touched_at_ms, received_at_ms, turbo_promoted_object_id,
        channel, advertiser_id, gid, aid, cid, csite, ip, details)
      select $1::int, md5('t' || n)::uuid, ${week}, 'click', 'tencent', at_ms, at_ms, 'abcdefgh12345678', '', '26531', '9001',
        (71000 + n % 50)::text, (81000 + n % 200)::text, 'SITE_SET_WECHAT', '10.1.2.3',
        jsonb_build_object('click_id', 'c' || n, 'oaid', 'o' || n, 'callback', 'http://tracking.e.qq.com/conv?cb=' || n)
      from (${made}) made`,
    [appId, nowMs, from],
  );
  await pool.query(
    `insert into touch_key (app_id, key_value, touched_at_ms, touch_id, week)
      select $1::int, key::uuid, at_ms, md5('t' || n)::uuid, ${week}
      from (${made}) made cross join lateral (values
        (md5(E'click_key\\ntencent\\nc' || n)), (md5(E'oaid\\n' || md5('o' || n))), (md5(E'address\\n' || n))) as keys (key)`,
    [appId, nowMs, from],
  );
}

async function decide(options: Options, run: { first: number; touches: number }): Promise<number> {
  await appendRegistrations(options, run);
  return Math.round((REGISTRATIONS * 1000) / (await drain(options)));
}

/** Applies what is in the journal; returns how long that took, ms. */
async function drain(options: Options): Promise<number> {
  const server = await startChild(options.serverScript, [], { ...options.env, ROLES: "apply" }, options.ready);
  const startedMs = elapsedMs();
  for (;;) {
    const answer = (await (await fetch(`http://127.0.0.1:${server.port}/progress`)).json()) as {
      data: { durable: number; applied: number };
    };
    if (answer.data.applied >= answer.data.durable) break;
    await sleep(50);
  }
  const tookMs = elapsedMs() - startedMs;
  await server.stop();
  return tookMs;
}

/** Half come with a click id, half with a device; a tenth of each finds nothing. */
async function appendRegistrations(options: Options, run: { first: number; touches: number }): Promise<void> {
  const log = createLog("error");
  const journal = await Journal.open(`${options.dataDir}/journal`, { log, disk: realDisk, pendingBytesMax: 1 << 28 });
  const appended: Promise<number>[] = [];
  for (let number = run.first; number < run.first + REGISTRATIONS; number += 1) {
    const touch = number % 10 === 9 ? "none" : String((number * 104_729) % run.touches);
    const source =
      number % 2 === 0
        ? { ad_data: { gdt_vid: `c${touch}` } }
        : {
            device_info: { os_name: "android", oaid: `o${touch}`, imei: `8600000${number}`, android_id: `a${number}` },
          };
    const body = { client_id: `decided-${number}`, name: "n", channel: "bench", version: 1, ...source };
    const head = { app: options.appId, client: body.client_id, at: options.nowMs, ip: "10.1.2.3", ua: "bench" };
    const entry = { head: { kind: "register" as const, registered: "yes" as const, ...head }, body: json(body) };
    appended.push(journal.append(entry));
    if (appended.length >= 5_000) await Promise.all(appended.splice(0));
  }
  await Promise.all(appended);
  await journal.close();
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
