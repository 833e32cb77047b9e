import { LIMITS } from "../../limits.ts";
import { addDays, DAY_MS } from "../calendar.ts";

/**
 * A partition of the events: the days from `from` until `until`. "dropped": it is gone, and takes no more events. "cold": what
 * it had is only in the lake; what comes later is in the table until it is written there.
 */
export type EventPart = { from: string; until: string; state: EventPartState };
export type EventPartState = "open" | "cold" | "dropped";

/** The end of the part that has none. As a text it sorts after every day, and PostgreSQL knows it as a date. */
export const FOREVER = "infinity";

/** The time window of live events, plus room for time zones. */
const NEAR_MS = 12 * DAY_MS;
/** History of this many days has monthly parts, so that retention can drop it in time; older history, yearly ones. */
const MONTHLY_DAYS = 400;

/** What must happen before a day's events can be stored in their place. */
export type PartPlan =
  | { kind: "open"; from: string; until: string }
  /** Future days share a part; those before `until` have come near and get parts of their own. */
  | { kind: "split"; part: EventPart; until: string };

/** A day on which events fall, and when one of them was received. */
export type WantedDay = { day: string; receivedAtMs: number };

/**
 * The parts that hold the events of each day. A day near its receipt has a part of its own, so that retention drops it
 * whole. Days far from it share parts, so that no import and no wrong clock makes more parts than months and years.
 *
 *   … by the year … │ by the month │ a day each, around the time of receipt │ the whole future in one
 *
 * Parts never overlap: a shared one ends where the next one begins. A day stays in the part that covers it.
 */
export class EventParts {
  /** The parts in order of their days. */
  readonly #parts: EventPart[];
  readonly #known = new Map<string, EventPartState | undefined>();
  /** Whether any part is only in the lake. */
  readonly hasCold: boolean;

  constructor(parts: readonly EventPart[]) {
    this.hasCold = parts.some(({ state }) => state === "cold");
    this.#parts = [...parts].sort((left, right) => (left.from < right.from ? -1 : 1));
  }

  /** The state of the part that covers a day, or undefined when none does. Cached, because every event needs it. */
  stateOf(day: string): EventPartState | undefined {
    if (this.#known.has(day)) return this.#known.get(day);
    const state = this.#covering(day)?.state;
    if (this.#known.size > LIMITS.rememberedDays) this.#known.clear();
    this.#known.set(day, state);
    return state;
  }

  /** Whether events of a day can be stored. */
  takes(day: string): boolean {
    const state = this.stateOf(day);
    return state === "open" || state === "cold";
  }

  /** What must happen before a day's events can be stored, or undefined when nothing must. */
  planFor(wanted: WantedDay): PartPlan | undefined {
    const { day } = wanted;
    const part = this.#covering(day);
    if (part) {
      const isLate = part.until === FOREVER && part.state === "open" && isNear(wanted);
      // Splits far enough ahead that this does not happen every day.
      return isLate ? { kind: "split", part, until: firstOfNextMonth(addDays(day, 31)) } : undefined;
    }
    const { from, until } = isNear(wanted) ? { from: day, until: addDays(day, 1) } : sharedRange(wanted);
    const index = this.#indexOf(day);
    const before = this.#parts[index]?.until ?? "";
    const behind = this.#parts[index + 1]?.from ?? FOREVER;
    return { kind: "open", from: from < before ? before : from, until: until > behind ? behind : until };
  }

  /** The parts after a plan is carried out, as far as is known without reading them. */
  after(plan: PartPlan): EventParts {
    if (plan.kind === "open") return new EventParts([...this.#parts, { ...plan, state: "open" }]);
    const rest: EventPart = { from: plan.until, until: FOREVER, state: "open" };
    return new EventParts(this.#parts.map((part) => (part.from === plan.part.from ? rest : part)));
  }

  #covering(day: string): EventPart | undefined {
    const part = this.#parts[this.#indexOf(day)];
    return part && day < part.until ? part : undefined;
  }

  /** The index of the last part that begins on or before the day, or -1. */
  #indexOf(day: string): number {
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

/** The shared part of a day far from its receipt. It never reaches the days near it, which get their own parts. */
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
