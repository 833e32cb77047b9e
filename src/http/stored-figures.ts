import type pg from "pg";
import { type Clock, elapsedMs } from "../clock.ts";
import { oldestPullMs } from "../db/cost-pull.ts";
import { staleSlices } from "../db/dirty-day.ts";
import { canAnswer } from "../db/engine/pool.ts";
import { type LakeOutline, loadLakeOutline } from "../db/lake-state.ts";
import { sumOutbox } from "../db/outbox.ts";
import { countRefreshEnds } from "../db/platform-account.ts";
import { countSetAside } from "../db/set-aside.ts";
import { firstScheduledDay } from "../domain/cost-schedule.ts";
import { refreshWarnedUntilMs } from "../domain/refresh-state.ts";
import { within } from "../within.ts";

/** Everybody may ask for /metrics, so the tables are asked at most this often. */
const FRESH_MS = 5_000;
/** A scraper gives up after ten seconds; the figures of the process itself are worth more than those of the tables. */
const WAIT_MS = 1_000;
/** A count that takes longer is on a connection that is lost; the next one gets another. */
const COUNT_MS_MAX = 60_000;

type Figure = { name: string; help: string; value: number };
type Counted = { atMs: number; figures: Figure[] };

/**
 * The figures of /metrics that only the tables know. While the database is away, none but that. Counts that take longer
 * than a scraper waits, as of a very long outbox, are shown as they were, by the next scrape: they do not mean that the
 * database is away.
 */
export class StoredFigures {
  readonly #pool: pg.Pool;
  readonly #clock: Clock;
  #asking: Promise<boolean> | undefined;
  #counting: Promise<Figure[]> | undefined;
  #counted: Counted | undefined;

  constructor({ pool, clock }: { pool: pg.Pool; clock: Clock }) {
    this.#pool = pool;
    this.#clock = clock;
  }

  async text(): Promise<string> {
    // The question comes first: a count must not take the connection that it needs.
    const [isUp, counted] = await Promise.all([
      within(WAIT_MS, this.#isUp()).catch(() => false),
      within(WAIT_MS, this.#figures()).catch(() => this.#counted?.figures ?? []),
    ]);
    const figures = isUp ? [databaseUp(1), ...counted] : [databaseUp(0)];
    return figures
      .map(({ name, help, value }) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`)
      .join("\n");
  }

  /** Concurrent callers share one question, and one count. */
  #isUp(): Promise<boolean> {
    this.#asking ??= canAnswer(this.#pool).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #figures(): Promise<Figure[]> {
    if (this.#counted && elapsedMs() - this.#counted.atMs <= FRESH_MS) return this.#counted.figures;
    this.#counting ??= this.#count().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  async #count(): Promise<Figure[]> {
    try {
      const figures = await within(COUNT_MS_MAX, this.#load());
      this.#counted = { atMs: elapsedMs(), figures };
      return figures;
    } catch (error) {
      // Old figures would hide that there are no new ones.
      this.#counted = undefined;
      throw error;
    }
  }

  /** One statement after the other, so that long ones never hold more than one of the connections that requests need. */
  async #load(): Promise<Figure[]> {
    const nowMs = this.#clock();
    const lanes = await sumOutbox(this.#pool);
    const cube = await staleSlices(this.#pool);
    const setAside = await countSetAside(this.#pool);
    const pulledMs = await oldestPullMs(this.#pool, { fromDay: firstScheduledDay(nowMs) });
    const refreshEnds = await countRefreshEnds(this.#pool, refreshWarnedUntilMs(nowMs));
    const lake = await loadLakeOutline(this.#pool);
    const secondsSince = (atMs: number | null | undefined) => Math.max(0, nowMs - (atMs ?? nowMs)) / 1_000;
    const dueMs = lanes.length === 0 ? null : Math.min(...lanes.map(({ dueAtMs }) => dueAtMs));
    const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0);
    return [
      figure("postbacks_waiting", "Postbacks that are not delivered yet.", waiting),
      figure("postback_due_age_seconds", "How long the first of them has been due.", secondsSince(dueMs)),
      figure("cube_lag_seconds", "How far the reports are behind the tables.", secondsSince(cube.sinceMs)),
      figure("set_aside_entries", "Journal entries that are set aside now.", setAside),
      figure(
        "cost_pull_age_seconds",
        "How long ago costs were pulled for the account that has waited longest; 0 without accounts.",
        secondsSince(pulledMs),
      ),
      figure("refresh_tokens_ending", "Accounts whose refresh token ends within a week, or has ended.", refreshEnds),
      ...lakeFigures(lake, secondsSince),
    ];
  }
}

/** All are 0 where there is no lake, and those of the bucket where LAKE_BUCKET_URL is not set. */
function lakeFigures(lake: LakeOutline | undefined, secondsSince: (atMs: number | null | undefined) => number) {
  const failing = (failure: string | undefined) => (failure ? 1 : 0);
  return [
    figure(
      "lake_lag_seconds",
      "How long the oldest change waits to be written to the lake.",
      secondsSince(lake?.waitingSinceMs),
    ),
    figure("lake_waiting_days", "Days of apps and tables that wait to be written to the lake.", lake?.waitingDays ?? 0),
    figure("lake_files", "Files of the lake that count.", lake?.files ?? 0),
    figure("lake_bytes", "Their size.", lake?.bytes ?? 0),
    figure(
      "lake_failing",
      "1 while the last attempt to write the lake has failed; the log says why.",
      failing(lake?.writing?.failure),
    ),
    figure(
      "lake_bucket_lag_seconds",
      "How long the lake's bucket has not been in step.",
      secondsSince(lake?.bucket?.behindSinceMs),
    ),
    figure(
      "lake_bucket_waiting_files",
      "Files that wait to be uploaded to the lake's bucket.",
      lake?.bucket?.waitingFiles ?? 0,
    ),
    figure("lake_bucket_objects", "Files in the lake's bucket.", lake?.bucket?.files ?? 0),
    figure("lake_bucket_bytes", "Their size.", lake?.bucket?.bytes ?? 0),
    figure(
      "lake_bucket_failing",
      "1 while the lake's bucket cannot be brought in step, or keeps old versions; the log says why.",
      failing(lake?.bucket?.failure),
    ),
  ];
}

function databaseUp(value: 0 | 1): Figure {
  return figure("database_up", "1 when the database answers within a second.", value);
}

function figure(name: string, help: string, value: number): Figure {
  return { name: `touchpoint_${name}`, help, value };
}
