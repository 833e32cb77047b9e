import type pg from "pg";
import { loadRuleSettings } from "../db/attribution-setting.ts";
import type { Executor } from "../db/engine/sql.ts";
import { dropEventDaysBefore, loadEventParts, openEventDays } from "../db/event-day.ts";
import { dropTouchWeeksBefore, loadTouchWeeks, openTouchWeek, type TouchWeekState } from "../db/touch-week.ts";
import { RuleBook } from "../domain/attribution/attribution-rules.ts";
import { weekOf } from "../domain/calendar.ts";
import { EventParts, type WantedDay } from "../domain/event/event-part.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { type Batch, daysOf, weeksOf } from "./batch.ts";

/** The partitions of events (by day) and touches (by week): opened before a batch needs them, dropped when old. */
export class Partitions {
  readonly #pool: pg.Pool;
  readonly #log: Log;
  #parts = new EventParts([]);
  #weeks = new Map<string, TouchWeekState>();
  /** See `assertApplies`; undefined until the first batch. */
  #freezes: number | undefined;
  /** Days that keep sharing a part, because a reader held it when it was to be split. */
  readonly #sharing = new Set<string>();

  constructor({ pool, log }: { pool: pg.Pool; log: Log }) {
    this.#pool = pool;
    this.#log = log;
  }

  /** The parts as a transaction finds them. They are read again when a day has become cold. */
  async partsAt(tx: Executor, freezes: number): Promise<EventParts> {
    if (freezes !== this.#freezes) {
      this.#parts = await loadEventParts(tx);
      this.#freezes = freezes;
    }
    return this.#parts;
  }

  get weeks(): ReadonlyMap<string, TouchWeekState> {
    return this.#weeks;
  }

  async load(): Promise<void> {
    this.#parts = await loadEventParts(this.#pool);
    this.#freezes = undefined;
    this.#weeks = await loadTouchWeeks(this.#pool);
  }

  /** Opens the days and weeks that a batch needs, which nearly always are open already. */
  async openFor(batch: Batch): Promise<void> {
    let planned = this.#parts;
    const wanted: WantedDay[] = [];
    for (const one of daysOf(batch)) {
      const plan = this.#sharing.has(one.day) ? undefined : planned.planFor(one);
      if (!plan) continue;
      planned = planned.after(plan);
      wanted.push(one);
    }
    if (wanted.length > 0) this.#parts = await openEventDays(this.#pool, wanted);
    for (const one of wanted) if (this.#parts.planFor(one)?.kind === "split") this.#sharing.add(one.day);
    for (const week of weeksOf(batch)) {
      if (this.#weeks.has(week)) continue;
      await openTouchWeek(this.#pool, week);
      this.#weeks.set(week, "open");
    }
  }

  /** Drops the days before `day`; from then on they take no more events. */
  async dropDaysBefore(day: string): Promise<void> {
    const dropped = await dropEventDaysBefore(this.#pool, day);
    if (dropped === 0) return;
    this.#parts = await loadEventParts(this.#pool);
    this.#log.info({ partitions: dropped, before: day }, "Old events were dropped.");
  }

  /** Drops touches that no rule can look at any more, a week at a time. */
  async dropTouchesBefore(nowMs: number): Promise<void> {
    const settings = await loadRuleSettings(this.#pool);
    const apps = new Set(settings.map((setting) => setting.appId));
    const windows = [...apps].map(
      (appId) => new RuleBook(settings.filter((one) => one.appId === appId)).longestWindowMs,
    );
    const dropped = await dropTouchWeeksBefore(this.#pool, weekOf(nowMs - Math.max(LIMITS.touchKeptMsMin, ...windows)));
    for (const week of dropped) this.#weeks.set(week, "dropped");
    if (dropped.length > 0) this.#log.info({ weeks: dropped }, "Touches older than every window were dropped.");
  }
}
