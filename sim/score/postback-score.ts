import { addDays, calendarOf, DAY_MS } from "../../src/domain/calendar.ts";
import type { Played } from "../market/simulation.ts";
import type { Person } from "../market/truth.ts";
import type { AcceptedConversion } from "../platforms/stand-in.ts";
import { isRight } from "./attribution-score.ts";
import type { Pair } from "./findings.ts";

export type PostbackScore = {
  /** Justified by what happened, by the rules that an app starts with. */
  justified: number;
  /** Of them: accepted exactly once, with the right amount. */
  matched: number;
  /** Accepted under an earlier click of the same person, before the one that brought the person was told. */
  toldBefore: number;
  missing: number;
  doubled: number;
  wrongAmount: number;
  /** Accepted, though nothing justifies it. */
  unjustified: number;
  /** Calls that a platform refused: a token that had run out is renewed, and the call made again. */
  refused: number;
};

type Told = "activate" | "register" | "pay" | "twice";
type Codes = Readonly<Partial<Record<Told, string>>>;

/** What each platform calls it. Baidu has two interfaces: by bd_vid for mini-games, by callback for apps. */
const CODES: Readonly<Record<string, Codes>> = {
  tencent: { activate: "ACTIVATE_APP", register: "REGISTER", pay: "PURCHASE", twice: "START_APP" },
  kuaishou: { activate: "1", register: "2", pay: "3", twice: "7" },
  bytedance: { activate: "active", register: "active_register", pay: "active_pay", twice: "next_day_open" },
  baidu_mini_game: { activate: "4", register: "25", pay: "26" },
  baidu_app: { activate: "activate", register: "register", pay: "orders", twice: "retain_1day" },
  bilibili: { activate: "APP_FIRST_ACTIVE", register: "USER_REGISTER", pay: "USER_COST", twice: "RETENTION" },
  vivo: { activate: "ACTIVATION", register: "REGISTER", pay: "PAY", twice: "RETENTION_1" },
};

const LATE_MS = 3 * DAY_MS;
const WINDOW_MS = 30 * DAY_MS;

/**
 * Holds what the platforms accepted against what happened. Of people whom the server gives to the touch that brought
 * them: for the others, what is told follows from the attribution, which has a score of its own.
 */
export function scorePostbacks(played: Played, pairs: readonly Pair[]): PostbackScore {
  const { byPlatform } = played.counterparts;
  const score: PostbackScore = {
    ...{ justified: 0, matched: 0, toldBefore: 0, missing: 0, doubled: 0, wrongAmount: 0, unjustified: 0 },
    refused: Object.values(byPlatform).reduce((sum, { refused }) => sum + refused.length, 0),
  };
  const accepted = new Map<string, AcceptedConversion[]>();
  for (const one of Object.values(byPlatform).flatMap((standIn) => standIn.accepted)) {
    const key = `${one.platform} ${one.key}`;
    accepted.set(key, [...(accepted.get(key) ?? []), one]);
  }
  const byPerson = earlierOf([...accepted.values()].flat());
  const winners = countWinners(pairs);
  for (const pair of pairs.filter((one) => isJudged(one, winners))) {
    const { platform } = pair.person.source!;
    const told = accepted.get(`${platform} ${pair.person.token}`) ?? [];
    const before = byPerson.get(pair.person.clientId) ?? [];
    compare(justifiedOf(pair.person, played.market.options.timeZone), { told, before }, score);
  }
  return score;
}

/** By person: what was told under an earlier click, whose token ends with the person's own id. */
function earlierOf(accepted: readonly AcceptedConversion[]): Map<string, AcceptedConversion[]> {
  const byPerson = new Map<string, AcceptedConversion[]>();
  for (const one of accepted) {
    const clientId = /^(?:e|f\d+)(p.+)$/.exec(one.key)?.[1];
    if (clientId !== undefined) byPerson.set(clientId, [...(byPerson.get(clientId) ?? []), one]);
  }
  return byPerson;
}

/** A touch that won two people brings the platform two people's conversions under one name. */
function countWinners(pairs: readonly Pair[]): Map<string, number> {
  const winners = new Map<string, number>();
  for (const { found } of pairs) winners.set(touchKey(found), (winners.get(touchKey(found)) ?? 0) + 1);
  return winners;
}

function touchKey({
  platform,
  aid,
  touchedAtMs,
}: {
  platform: string;
  aid: string;
  touchedAtMs: number | null;
}): string {
  return touchedAtMs === null ? "" : `${platform} ${aid} ${touchedAtMs}`;
}

function isJudged(pair: Pair, winners: ReadonlyMap<string, number>): boolean {
  const { person, found } = pair;
  const isTrueTouch = found.touchedAtMs === (person.source?.touchedAtMs ?? null);
  const key = touchKey(found);
  return person.kind === "paid" && isRight(pair) && isTrueTouch && (key === "" || winners.get(key) === 1);
}

type Justified = { told: Told; code: string; cents: number | null };

function justifiedOf(person: Person, timeZone: string): Justified[] {
  const { platform, touchedAtMs } = person.source!;
  const codes = CODES[platform === "baidu" ? `baidu_${person.offer}` : platform];
  // Ocean Engine is told by the callback of the click: where no click was told, there is none.
  if (!codes || person.token === "" || (platform === "bytedance" && person.method === "launch_query")) return [];
  const sinceMs = touchedAtMs ?? person.registeredAtMs;
  const isTold = ({ atMs, receivedAtMs }: { atMs: number; receivedAtMs: number }) =>
    receivedAtMs - atMs < LATE_MS && atMs - sinceMs < WINDOW_MS;
  const things = person.events
    .filter(({ type }) => type === "track")
    .map((one) => ({ ...one.happening, receivedAtMs: one.receivedAtMs }));
  const orders = new Map<string, { atMs: number; receivedAtMs: number; cents: number }>();
  for (const one of things) if (one.kind === "pay" && !orders.has(one.orderId)) orders.set(one.orderId, one);
  const calendar = calendarOf(timeZone);
  const nextDay = addDays(calendar.dayOf(person.registeredAtMs), 1);
  const back = things.find(({ atMs }) => calendar.dayOf(atMs) === nextDay);
  const made: [Told, number | null][] = [
    ["activate", null],
    ["register", null],
    ...(back && isTold(back) ? [["twice", null] as [Told, null]] : []),
    ...[...orders.values()].filter(isTold).map(({ cents }): [Told, number] => ["pay", cents]),
  ];
  return made.flatMap(([told, cents]) => {
    const code = codes[told];
    return code === undefined ? [] : [{ told, code, cents }];
  });
}

type Heard = { told: readonly AcceptedConversion[]; before: readonly AcceptedConversion[] };

function compare(justified: readonly Justified[], { told, before }: Heard, score: PostbackScore): void {
  const left = told.filter(({ isDuplicate }) => !isDuplicate);
  score.justified += justified.length;
  score.doubled += told.length - left.length;
  const missing = justified.filter((one) => {
    const isMatched = takeOut(left, ({ code, cents }) => code === one.code && cents === one.cents);
    if (isMatched) score.matched += 1;
    return !isMatched;
  });
  for (const one of missing) {
    if (takeOut(left, ({ code }) => code === one.code)) score.wrongAmount += 1;
    else if (before.some((other) => isSame(other, one))) score.toldBefore += 1;
    else score.missing += 1;
  }
  for (const one of left) {
    if (justified.some(({ code, cents }) => code === one.code && cents === one.cents)) score.doubled += 1;
    else score.unjustified += 1;
  }
}

/** Whether there was one. */
function takeOut(list: AcceptedConversion[], isWanted: (one: AcceptedConversion) => boolean): boolean {
  const at = list.findIndex(isWanted);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}

/** The same thing, in another platform's words. */
function isSame({ platform, code }: AcceptedConversion, { told }: Justified): boolean {
  return Object.entries(CODES).some(([name, codes]) => name.startsWith(platform) && codes[told] === code);
}
