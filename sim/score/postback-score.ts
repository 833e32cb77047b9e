import { addDays, calendarOf, DAY_MS } from "../../src/domain/calendar.ts";
import type { Counterparts } from "../market/counterparts.ts";
import type { Person } from "../market/truth.ts";
import type { AcceptedConversion } from "../platforms/stand-in.ts";
import { isRight } from "./attribution-score.ts";
import type { Attributed } from "./findings.ts";

export type PostbackScore = {
  /** Postbacks justified by what happened, under the rules of a new app. */
  justified: number;
  /** Those of them accepted exactly once, with the right amount. */
  matched: number;
  /** Accepted under an earlier click of the same person, before the click that brought them was reported. */
  toldBefore: number;
  missing: number;
  doubled: number;
  wrongAmount: number;
  /** Accepted without justification. */
  unjustified: number;
  /** Calls refused because a token had expired; the server renews it and calls again. */
  refused: number;
};

type Moment = "activate" | "register" | "pay" | "twice";
type Codes = Readonly<Partial<Record<Moment, string>>>;

/** Each platform's names of the events. Baidu has two interfaces: by bd_vid for mini-games, by callback for apps. */
const CODES: Readonly<Record<string, Codes>> = {
  tencent: { activate: "ACTIVATE_APP", register: "REGISTER", pay: "PURCHASE", twice: "START_APP" },
  kuaishou: { activate: "1", register: "2", pay: "3", twice: "7" },
  bytedance: { activate: "active", register: "active_register", pay: "active_pay", twice: "next_day_open" },
  baidu_mini_game: { activate: "4", register: "25", pay: "26" },
  baidu_app: { activate: "activate", register: "register", pay: "orders", twice: "retain_1day" },
  bilibili: { activate: "APP_FIRST_ACTIVE", register: "USER_REGISTER", pay: "USER_COST", twice: "RETENTION" },
  vivo: { activate: "ACTIVATION", register: "REGISTER", pay: "PAY_ONETIME", twice: "RETENTION_1" },
};

const LATE_MS = 3 * DAY_MS;
const WINDOW_MS = 30 * DAY_MS;

/** All platforms, and the time zone in which days are counted. */
export type Heard = { byPlatform: Counterparts["byPlatform"]; timeZone: string };

/** The conversions accepted for one person, compared with what happened. */
export type Told = {
  person: Person;
  justified: number;
  matched: number;
  toldBefore: number;
  missing: Justified[];
  /** Sent again and counted, and sent again but recognised as a repeat. */
  doubled: number;
  repeated: number;
  wrongAmount: Justified[];
  unjustified: AcceptedConversion[];
};

/**
 * Compares the conversions that platforms accepted with what happened, for people attributed to the touch that brought them.
 * For others, postbacks follow from the attribution, which has its own score.
 */
export function scorePostbacks(heard: Heard, pairs: readonly Attributed[]): PostbackScore {
  const people = judgePostbacks(heard, pairs);
  const sum = (of: (told: Told) => number) => people.reduce((total, told) => total + of(told), 0);
  return {
    justified: sum(({ justified }) => justified),
    matched: sum(({ matched }) => matched),
    toldBefore: sum(({ toldBefore }) => toldBefore),
    missing: sum(({ missing }) => missing.length),
    doubled: sum(({ doubled, repeated }) => doubled + repeated),
    wrongAmount: sum(({ wrongAmount }) => wrongAmount.length),
    unjustified: sum(({ unjustified }) => unjustified.length),
    refused: Object.values(heard.byPlatform).reduce((total, { refused }) => total + refused.length, 0),
  };
}

/** The comparison for each person. */
export function judgePostbacks({ byPlatform, timeZone }: Heard, pairs: readonly Attributed[]): Told[] {
  const accepted = new Map<string, AcceptedConversion[]>();
  for (const one of Object.values(byPlatform).flatMap((standIn) => standIn.accepted)) {
    const key = `${one.platform} ${one.key}`;
    accepted.set(key, [...(accepted.get(key) ?? []), one]);
  }
  const byPerson = earlierOf([...accepted.values()].flat());
  const winners = countWinners(pairs);
  return pairs
    .filter((one) => isJudged(one, winners))
    .map(({ person }) => {
      const told = accepted.get(`${person.source!.platform} ${person.token}`) ?? [];
      return compare(person, justifiedOf(person, timeZone), { told, before: byPerson.get(person.clientId) ?? [] });
    });
}

/** Conversions sent under an earlier click, by person: its token ends with the person's id. */
function earlierOf(accepted: readonly AcceptedConversion[]): Map<string, AcceptedConversion[]> {
  const byPerson = new Map<string, AcceptedConversion[]>();
  for (const one of accepted) {
    const clientId = /^(?:e|f\d+)(p.+)$/.exec(one.key)?.[1];
    if (clientId !== undefined) byPerson.set(clientId, [...(byPerson.get(clientId) ?? []), one]);
  }
  return byPerson;
}

/** A touch that won two people brings both people's conversions under one key. */
function countWinners(pairs: readonly Attributed[]): Map<string, number> {
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

function isJudged(pair: Attributed, winners: ReadonlyMap<string, number>): boolean {
  const { person, found } = pair;
  const isTrueTouch = found.touchedAtMs === (person.source?.touchedAtMs ?? null);
  const key = touchKey(found);
  return person.kind === "paid" && isRight(pair) && isTrueTouch && (key === "" || winners.get(key) === 1);
}

export type Justified = { told: Moment; code: string; cents: number | null };

function justifiedOf(person: Person, timeZone: string): Justified[] {
  const { platform, touchedAtMs } = person.source!;
  const codes = CODES[platform === "baidu" ? `baidu_${person.offer}` : platform];
  if (!codes || person.token === "") return [];
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
  // A refund is not a return of the person.
  const back = things.find(({ kind, atMs }) => kind !== "refund" && calendar.dayOf(atMs) === nextDay);
  const made: [Moment, number | null][] = [
    ["activate", null],
    ["register", null],
    ...(back && isTold(back) ? [["twice", null] as [Moment, null]] : []),
    ...[...orders.values()].filter(isTold).map(({ cents }): [Moment, number] => ["pay", cents]),
  ];
  return made.flatMap(([told, cents]) => {
    const code = codes[told];
    return code === undefined ? [] : [{ told, code, cents }];
  });
}

type Accepted = { told: readonly AcceptedConversion[]; before: readonly AcceptedConversion[] };

function compare(person: Person, justified: readonly Justified[], { told, before }: Accepted): Told {
  const left = told.filter(({ isDuplicate }) => !isDuplicate);
  const unmatched = justified.filter(
    (one) => !takeOut(left, ({ code, cents }) => code === one.code && cents === one.cents),
  );
  const wrongAmount = unmatched.filter((one) => takeOut(left, ({ code }) => code === one.code));
  const untold = unmatched.filter((one) => !wrongAmount.includes(one));
  const missing = untold.filter((one) => !before.some((other) => isSame(other, one)));
  const unjustified = left.filter(
    (one) => !justified.some(({ code, cents }) => code === one.code && cents === one.cents),
  );
  return {
    person,
    justified: justified.length,
    matched: justified.length - unmatched.length,
    toldBefore: untold.length - missing.length,
    missing,
    wrongAmount,
    unjustified,
    doubled: left.length - unjustified.length,
    repeated: told.filter(({ isDuplicate }) => isDuplicate).length,
  };
}

/** Removes the first match from the list; returns whether there was one. */
function takeOut(list: AcceptedConversion[], isWanted: (one: AcceptedConversion) => boolean): boolean {
  const at = list.findIndex(isWanted);
  if (at >= 0) list.splice(at, 1);
  return at >= 0;
}

/** Whether it is the same conversion under another platform's name. */
function isSame({ platform, code }: AcceptedConversion, { told }: Justified): boolean {
  return Object.entries(CODES).some(([name, codes]) => name.startsWith(platform) && codes[told] === code);
}
