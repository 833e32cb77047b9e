import type { AppRules } from "../db/app.ts";
import type { LedgerCount } from "../db/ledger-minute.ts";
import type { ObservedName } from "../db/metadata.ts";
import type { Order } from "../db/orders.ts";
import type { UserAccount, UserKey } from "../db/user-account.ts";
import type { UserDay } from "../db/user-day.ts";
import { type Calendar, calendarOf, spanOf } from "../domain/calendar.ts";
import { addActivity, NO_FIGURES } from "../domain/user-figures.ts";

const MINUTE_MS = 60_000;

export type AppContext = AppRules & { calendar: Calendar };

export function userKey(user: UserKey): string {
  return `${user.appId}\t${user.clientId}`;
}

/**
 * What one batch adds to the tables, gathered in memory entry by entry and written at the end in a few statements.
 * Users are read before and written whole; everything else is new rows or sums to add.
 */
export class Facts {
  readonly apps: ReadonlyMap<number, AppContext>;
  /** New events, in the form in which they are written. */
  readonly eventRows: string[] = [];
  readonly orders: Order[] = [];
  readonly observed: ObservedName[] = [];
  readonly #users: Map<string, UserAccount>;
  readonly #changed = new Set<string>();
  readonly #days = new Map<string, UserDay>();
  /** The counters that a user's last event went to: the next one nearly always goes there too. */
  readonly #lastDay = new Map<UserAccount, UserDay>();
  readonly #ledger = new Map<string, LedgerCount>();

  constructor(apps: readonly AppRules[], users: readonly UserAccount[]) {
    this.apps = new Map(apps.map((app) => [app.appId, { ...app, calendar: calendarOf(app.timeZone) }]));
    this.#users = new Map(users.map((user) => [userKey(user), user]));
  }

  app(appId: number): AppContext {
    const app = this.apps.get(appId);
    if (!app) throw new Error(`There is no app ${appId}.`);
    return app;
  }

  user(key: UserKey): UserAccount | undefined {
    return this.#users.get(userKey(key));
  }

  putUser(user: UserAccount): void {
    this.#users.set(userKey(user), user);
    this.#changed.add(userKey(user));
  }

  changedUsers(): UserAccount[] {
    return [...this.#changed].map((key) => this.#users.get(key)!);
  }

  /** The counters of a user at an instant: its local day and both its spans. Touching them makes the day active. */
  day(user: UserAccount, atMs: number): UserDay {
    const day = this.app(user.appId).calendar.dayOf(atMs);
    const spanT = spanOf(atMs, user.touchedAtMs ?? user.registeredAtMs);
    const spanR = spanOf(atMs, user.registeredAtMs);
    const last = this.#lastDay.get(user);
    if (last?.day === day && last.spanT === spanT && last.spanR === spanR) return last;
    const key = `${user.appId}\t${user.clientId}\t${day}\t${spanT}\t${spanR}`;
    let counters = this.#days.get(key);
    if (!counters) {
      counters = {
        appId: user.appId,
        clientId: user.clientId,
        day,
        spanT,
        spanR,
        trackEvents: 0,
        registerEvents: 0,
        payCount: 0,
        payCents: 0,
        adCount: 0,
        adMicros: 0,
      };
      this.#days.set(key, counters);
    }
    this.#lastDay.set(user, counters);
    addActivity(user, day);
    this.#changed.add(userKey(user));
    return counters;
  }

  userDays(): UserDay[] {
    return [...this.#days.values()];
  }

  count(appId: number, receivedAtMs: number, outcome: string, events: number): void {
    if (events === 0) return;
    const minuteMs = Math.floor(receivedAtMs / MINUTE_MS) * MINUTE_MS;
    const key = `${appId} ${minuteMs} ${outcome}`;
    const known = this.#ledger.get(key);
    if (known) known.events += events;
    else this.#ledger.set(key, { appId, minuteMs, outcome, events });
  }

  ledger(): LedgerCount[] {
    return [...this.#ledger.values()];
  }
}

/** A client that has sent events without a registration, or the empty start of one that registers. */
export function newUser(key: UserKey, registeredAtMs: number, app: AppContext): UserAccount {
  return {
    ...key,
    name: "",
    channel: "",
    version: 0,
    wxOpenid: "",
    wxUnionid: "",
    isRegistered: false,
    registeredAtMs,
    registeredDay: app.calendar.dayOf(registeredAtMs),
    isHistory: false,
    touchedAtMs: null,
    adPlatform: "",
    turboPromotedObjectId: "",
    advertiserId: "",
    gid: "",
    aid: "",
    cid: "",
    csite: "",
    adData: {},
    reported: null,
    osPlatform: "unknown",
    ip: "",
    ua: "",
    country: "",
    province: "",
    city: "",
    device: null,
    properties: {},
    latestEventAtMs: null,
    ...NO_FIGURES,
  };
}
