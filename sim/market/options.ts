import { DAY_MS } from "../../src/domain/calendar.ts";

/** Probabilities, as shares of 1. */
export type Rates = {
  /** Share of all people: not brought by any ad. */
  organic: number;
  /** Share of organic people: clicked an ad longer ago than the window. */
  clickedLongAgo: number;
  /** Share of all people: migrated from another system, with their past. */
  migrated: number;
  /** Share of people brought by an ad for the app: their phone shows no id. */
  withoutIds: number;
  /** Share of people without an id: on another network when they open the app. */
  networkChanged: number;
  /** Share of all people: behind an address shared by many. */
  sharedAddress: number;
  /** Shares of clicks: the platform never calls the link, calls it hours late, or calls it twice. */
  touchLost: number;
  touchLate: number;
  touchTwice: number;
  /** Shares of clicks: the macros of names, or those of ids, stay unreplaced. */
  macroNames: number;
  macroIds: number;
  /** Share of clients: their clock is wrong. */
  wrongClock: number;
  /** Shares of calls: the answer is lost and the same body is sent again; the connection breaks in the middle. */
  answerLost: number;
  connectionLost: number;
  /** Share of calls: sent once more together with later events. */
  sentAgainWithMore: number;
  /** Share of visits: without a network, so that the events arrive hours later. */
  offline: number;
  /** Share of orders: reported by the game's server too. */
  reportedTwice: number;
  /** Share of orders: paid back later, in whole or in part. */
  refunded: number;
  /** Shares of people: victims of each kind of fraud. */
  spam: number;
  quietSpam: number;
  injection: number;
  /** Share of people: made by a device farm, with clicks from data centres. */
  farm: number;
  /** Click floods per day. */
  floodsPerDay: number;
};

export const DEFAULT_RATES: Rates = {
  organic: 0.3,
  clickedLongAgo: 0.15,
  migrated: 0.01,
  withoutIds: 0.15,
  networkChanged: 0.15,
  sharedAddress: 0.1,
  touchLost: 0.02,
  touchLate: 0.05,
  touchTwice: 0.06,
  macroNames: 0.05,
  macroIds: 0.01,
  wrongClock: 0.04,
  answerLost: 0.02,
  connectionLost: 0.005,
  sentAgainWithMore: 0.02,
  offline: 0.05,
  reportedTwice: 0.05,
  refunded: 0.08,
  spam: 0.01,
  quietSpam: 0.004,
  injection: 0.01,
  farm: 0.01,
  floodsPerDay: 0.1,
};

/** Nothing is lost, hidden, late or forged, so everything must be counted without error. */
export const COMPLETE_RATES: Rates = {
  ...DEFAULT_RATES,
  withoutIds: 0,
  networkChanged: 0,
  sharedAddress: 0,
  touchLost: 0,
  macroIds: 0,
  spam: 0,
  quietSpam: 0,
  injection: 0,
  farm: 0,
  floodsPerDay: 0,
};

export type MarketOptions = {
  seed: number;
  days: number;
  people: number;
  /** The market ends at the last tick before this time. */
  endMs: number;
  /** Calls are sent at ticks; the server's clock stands still within one. */
  tickMs: number;
  timeZone: string;
  rates: Rates;
  /** How many times faster people's days and hours pass: 1 on simulated time. */
  haste: number;
  /** The callback address that a platform delivers with a click, for this token. */
  callbackUrl: (platform: string, token: string) => string;
};

const MINUTE_MS = 60_000;
const NOBODY = (platform: string, token: string) => `https://${platform}.example/callback?callback=${token}`;

export function marketOptions(given: Partial<MarketOptions> & { endMs: number }): MarketOptions {
  const options: MarketOptions = {
    seed: 1,
    days: 60,
    people: 3000,
    tickMs: 30 * MINUTE_MS,
    timeZone: "Asia/Shanghai",
    rates: DEFAULT_RATES,
    haste: 1,
    callbackUrl: NOBODY,
    ...given,
  };
  const number = Math.floor(options.endMs / options.tickMs);
  return { ...options, endMs: tickAt(options.tickMs, number) };
}

/** Ticks come slightly before their even time, each by a different amount: otherwise everything would happen on the hour. */
function tickAt(tickMs: number, number: number): number {
  const early = Math.imul(number, 0x9e3779b1) >>> 0;
  return number * tickMs - Math.floor((early / 0x1_0000_0000) * 0.6 * tickMs);
}

/** The tick at which a call that is due at this time is sent. */
export function tickAfter({ tickMs }: Pick<MarketOptions, "tickMs">, ms: number): number {
  const number = Math.ceil(ms / tickMs);
  const atMs = tickAt(tickMs, number);
  return atMs >= ms ? atMs : tickAt(tickMs, number + 1);
}

export function startOf({ endMs, days }: Pick<MarketOptions, "endMs" | "days">): number {
  return endMs - days * DAY_MS;
}
