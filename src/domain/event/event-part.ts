import { LIMITS } from "../../limits.ts";
import { addDays, DAY_MS } from "../calendar.ts";

/** A partition of the events: the days from `from` until `until`. "dropped": it is gone, and its days take no more. */
export type EventPart = { from: string; until: string; state: EventPartState };
export type EventPartState = "open" | "dropped";

/** The end of the part that has none. As a text it stands behind every day, and PostgreSQL knows it as a date. */
export const FOREVER = "infinity";

/** The time window of live events, and a zone's worth of hours. */
const NEAR_MS = 12 * DAY_MS;
/** History within this many days shares a part by the month, so that retention can drop it in time; older by the year. */
const MONTHLY_DAYS = 400;

/** What has to be done before a day's events can be stored where they belong. */
export type PartPlan =
  | { kind: "open"; from: string; until: string }
  /** Days of the future had come early and share a part; now that they come near, those before `until` get their own. */
  | { kind: "split"; part: EventPart; until: string };

/** A day on which events fall, and when one of them was received. */
export type WantedDay = { day: string; receivedAtMs: number };

/**
 * Where the events of each day are kept. A day near its receipt has a part of its own, so that retention drops it whole.
 * Days far from it share parts: nobody's import, and nobody's wrong clock, makes more parts than there are months and years.
 *
 *   … by the year … │ by the month │ a day each, around the time of receipt │ the whole future in one
 *
 * Parts never overlap: a shared one ends where the next one begins. What a day is covered by, it stays with.
 */
export class EventParts {
  /** In the order of their days. */
  readonly #parts: EventPart[];
  readonly #known = new Map<string, EventPartState | undefined>();

  constructor(parts: readonly EventPart[]) {
    this.#parts = [...parts].sort((left, right) => (left.from < right.from ? -1 : 1));
  }

  /** Undefined: no part covers the day. Remembered, because it is asked for every event. */
  stateOf(day: string): EventPartState | undefined {
    if (this.#known.has(day)) return this.#known.get(day);
    const state = this.#covering(day)?.state;
    if (this.#known.size > LIMITS.rememberedDays) this.#known.clear();
    this.#known.set(day, state);
    return state;
  }

  /** What to do before a day's events can be stored; undefined: nothing. */
  planFor(wanted: WantedDay): PartPlan | undefined {
    const { day } = wanted;
    const part = this.#covering(day);
    if (part) {
      const isLate = part.until === FOREVER && part.state === "open" && isNear(wanted);
      // Far enough ahead that the parts are not split every day.
      return isLate ? { kind: "split", part, until: firstOfNextMonth(addDays(day, 31)) } : undefined;
    }
    const { from, until } = isNear(wanted) ? { from: day, until: addDays(day, 1) } : sharedRange(wanted);
    const place = this.#placeOf(day);
    const before = this.#parts[place]?.until ?? "";
    const behind = this.#parts[place + 1]?.from ?? FOREVER;
    return { kind: "open", from: from < before ? before : from, until: until > behind ? behind : until };
  }

  /** The parts after the plan was carried out, as far as can be told without looking into them. */
  after(plan: PartPlan): EventParts {
    if (plan.kind === "open") return new EventParts([...this.#parts, { ...plan, state: "open" }]);
    const rest: EventPart = { from: plan.until, until: FOREVER, state: "open" };
    return new EventParts(this.#parts.map((part) => (part.from === plan.part.from ? rest : part)));
  }

  #covering(day: string): EventPart | undefined {
    const part = this.#parts[this.#placeOf(day)];
    return part && day < part.until ? part : undefined;
  }

  /** Of the last part that begins on the day or before it; -1: there is none. */
  #placeOf(day: string): number {
    let [least, most] = [0, this.#parts.length];
    while (least < most) {
      const middle = (least + most) >> 1;
      if (this.#parts[middle]!.from <= day) least = middle + 1;
      else most = middle;
    }
    return least - 1;
  }
}

export function isNear({ day, receivedAtMs }: WantedDay): boolean {
  return Math.abs(Date.parse(day) - receivedAtMs) <= NEAR_MS;
}

/** Of a day far from its receipt. Never reaches the days near it: those are still to get parts of their own. */
function sharedRange({ day, receivedAtMs }: WantedDay): { from: string; until: string } {
  if (Date.parse(day) > receivedAtMs) return { from: dayAfter(receivedAtMs + NEAR_MS), until: FOREVER };
  const nearFrom = dayAfter(receivedAtMs - NEAR_MS - 1);
  const monthlyFrom = monthOf(addDays(nearFrom, -MONTHLY_DAYS));
  const isMonthly = day >= monthlyFrom;
  const until = isMonthly ? firstOfNextMonth(day) : `${Number(day.slice(0, 4)) + 1}-01-01`;
  const least = isMonthly ? nearFrom : monthlyFrom;
  return { from: isMonthly ? monthOf(day) : `${day.slice(0, 4)}-01-01`, until: until < least ? until : least };
}

/** The first day that begins after an instant, in UTC. */
function dayAfter(ms: number): string {
  return addDays(new Date(ms).toISOString().slice(0, 10), 1);
}

function monthOf(day: string): string {
  return `${day.slice(0, 7)}-01`;
}

function firstOfNextMonth(day: string): string {
  return monthOf(addDays(monthOf(day), 31));
}
