import { TIMELINE_KINDS, type Timeline, type TimelineKind } from "../../contract/admin/admin-user.ts";
import type { AppRules } from "../../db/app.ts";
import { COLD_NOWHERE, type ColdEvents } from "../../db/cold-event.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadUsers } from "../../db/user-account.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { readArrivals } from "./timeline-arrival.ts";
import { readEvents } from "./timeline-event.ts";
import { readOrders, readPostbacks, readRefunds } from "./timeline-money.ts";
import type { Bound, Entry, Source } from "./timeline-source.ts";
import { readTouches } from "./timeline-touch.ts";

/**
 * Everything that a user did or that was done about the user, newest first. Each kind is read from its own table by the
 * client's key, at most one page of it, and the pages are merged:
 *
 *   postback  refund  order  event  return  registration  touch
 *       └───────┴───────┴──────┴───┬───┴─────────┴──────────┘
 *             the newest `limit` entries, and the place where they end
 */
export async function readTimeline(
  executor: Executor,
  app: Pick<AppRules, "appId" | "timeZone">,
  asked: TimelineWish,
  cold: ColdEvents = COLD_NOWHERE,
): Promise<Timeline | undefined> {
  const [user] = await loadUsers(executor, [{ appId: app.appId, clientId: asked.clientId }]);
  if (!user) return undefined;
  const { before, limit, event } = asked;
  const found: Entry[] = [];
  for (const kind of asked.kinds) {
    const page = { bound: boundOf(kind, before), limit: limit + 1, timeZone: app.timeZone, event, cold };
    found.push(...(await SOURCES[kind](executor, user, page)));
  }
  // The sort is stable: entries of one kind and instant stay in the order of their source, by key.
  found.sort((left, right) => right.item.at_ms - left.item.at_ms || rankOf(left.item.kind) - rankOf(right.item.kind));
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(({ item }) => item),
    next:
      last && found.length > limit
        ? positionText({ atMs: last.item.at_ms, kind: last.item.kind, key: last.key })
        : null,
  };
}

const SOURCES: Readonly<Record<TimelineKind, Source>> = {
  postback: readPostbacks,
  refund: readRefunds,
  order: readOrders,
  event: readEvents,
  return: readArrivals("return"),
  registration: readArrivals("registration"),
  touch: readTouches,
};

const rankOf = (kind: TimelineKind): number => TIMELINE_KINDS.indexOf(kind);

/** Where a page ended. */
type Position = { atMs: number; kind: TimelineKind; key: readonly string[] };

/** At the instant where the page ended, kinds before the position's kind were shown already, and later kinds were not. */
function boundOf(kind: TimelineKind, before: Position | undefined): Bound {
  if (!before) return { atMs: Number.MAX_SAFE_INTEGER, key: undefined };
  if (kind === before.kind) return { atMs: before.atMs, key: before.key };
  return { atMs: rankOf(kind) < rankOf(before.kind) ? before.atMs : before.atMs + 1, key: undefined };
}

export type TimelineWish = {
  clientId: string;
  kinds: readonly TimelineKind[];
  event: string | undefined;
  before: Position | undefined;
  limit: number;
};

const LIMIT_DEFAULT = 50;

export function readTimelineWish(
  clientId: string,
  given: Readonly<Partial<Record<"kinds" | "event" | "before" | "limit", string>>>,
): TimelineWish {
  return {
    clientId,
    kinds: given.event === undefined ? kindsOf(given.kinds) : ["event"],
    event: given.event === undefined ? undefined : eventOf(given.event),
    before: given.before === undefined ? undefined : positionOf(given.before),
    limit: given.limit === undefined ? LIMIT_DEFAULT : limitOf(given.limit),
  };
}

function eventOf(name: string): string {
  if (name === "") throw bad("event must be the name of an event.");
  return name;
}

function kindsOf(text: string | undefined): readonly TimelineKind[] {
  const asked = (text ?? "").split(",").filter((kind) => kind !== "");
  const unknown = asked.find((kind) => !(TIMELINE_KINDS as readonly string[]).includes(kind));
  if (unknown !== undefined) {
    throw bad(`kinds: ${JSON.stringify(unknown.slice(0, 60))} is not one of ${TIMELINE_KINDS.join(", ")}.`);
  }
  return asked.length === 0 ? TIMELINE_KINDS : TIMELINE_KINDS.filter((kind) => asked.includes(kind));
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!/^\d{1,9}$/.test(text) || limit < 1 || limit > LIMITS.timelineRows) {
    throw bad(`limit must be a whole number from 1 to ${LIMITS.timelineRows}.`);
  }
  return limit;
}

function positionText({ atMs, kind, key }: Position): string {
  return Buffer.from(JSON.stringify([atMs, kind, ...key])).toString("base64url");
}

/** The number of parts of each kind's key. */
const KEY_PARTS: Readonly<Record<TimelineKind, number>> = {
  postback: 2,
  refund: 1,
  order: 1,
  event: 1,
  return: 1,
  registration: 1,
  touch: 1,
};

function positionOf(text: string): Position {
  const parts = partsOf(text);
  const [atMs, kind, ...key] = Array.isArray(parts) ? (parts as unknown[]) : [];
  const isPosition =
    Number.isSafeInteger(atMs) &&
    (TIMELINE_KINDS as readonly unknown[]).includes(kind) &&
    key.length === KEY_PARTS[kind as TimelineKind] &&
    key.every((part) => typeof part === "string" && !part.includes("\0") && part.isWellFormed()) &&
    (kind !== "event" || HEX.test(key[0] as string));
  if (!isPosition) throw bad("before must be the `next` of another page.");
  return { atMs: atMs as number, kind: kind as TimelineKind, key: key as string[] };
}

const HEX = /^[0-9a-f]{32}$/;

function partsOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
