import type pg from "pg";
import { type Clock, elapsedMs } from "../clock.ts";
import { oldestPullMs } from "../db/cost-pull.ts";
import { staleSlices } from "../db/dirty-day.ts";
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

type Figure = { name: string; help: string; value: number };
type Looked = { atMs: number; figures: Promise<Figure[]> };

/** The figures of /metrics that only the tables know. While the database is away, none but that. */
export class StoredFigures {
  readonly #pool: pg.Pool;
  readonly #clock: Clock;
  #looked: Looked | undefined;

  constructor({ pool, clock }: { pool: pg.Pool; clock: Clock }) {
    this.#pool = pool;
    this.#clock = clock;
  }

  async text(): Promise<string> {
    const figures = await within(WAIT_MS, this.#figures()).catch(() => [databaseUp(0)]);
    return figures
      .map(({ name, help, value }) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`)
      .join("\n");
  }

  #figures(): Promise<Figure[]> {
    const nowMs = elapsedMs();
    if (!this.#looked || nowMs - this.#looked.atMs > FRESH_MS) {
      const figures = this.#load();
      this.#looked = { atMs: nowMs, figures };
      // A failure is told to those who wait for it, and not kept for the next.
      figures.catch(() => {
        this.#looked = undefined;
      });
    }
    return this.#looked.figures;
  }

  async #load(): Promise<Figure[]> {
    const nowMs = this.#clock();
    const [lanes, cube, setAside, pulledMs, refreshEnds] = await Promise.all([
      sumOutbox(this.#pool),
      staleSlices(this.#pool),
      countSetAside(this.#pool),
      oldestPullMs(this.#pool, { fromDay: firstScheduledDay(nowMs) }),
      countRefreshEnds(this.#pool, refreshWarnedUntilMs(nowMs)),
    ]);
    const secondsSince = (atMs: number | null | undefined) => Math.max(0, nowMs - (atMs ?? nowMs)) / 1_000;
    const dueMs = lanes.length === 0 ? null : Math.min(...lanes.map(({ dueAtMs }) => dueAtMs));
    const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0);
    return [
      databaseUp(1),
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
    ];
  }
}

function databaseUp(value: 0 | 1): Figure {
  return figure("database_up", "1 when the database answers within a second.", value);
}

function figure(name: string, help: string, value: number): Figure {
  return { name: `touchpoint_${name}`, help, value };
}
