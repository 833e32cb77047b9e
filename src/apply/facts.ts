import type { AppRules } from "../db/app.ts";
import type { AsaTokenChange } from "../db/asa-token.ts";
import type { Erasure, ErasureDigest } from "../db/erased-user.ts";
import type { LedgerCount } from "../db/ledger-minute.ts";
import type { ObservedName } from "../db/metadata.ts";
import type { Order } from "../db/orders.ts";
import type { UserMoment } from "../db/past-moments.ts";
import type { UserAccount } from "../db/user-account.ts";
import type { UserDay } from "../db/user-day.ts";
import { RuleBook, type RuleSettings } from "../domain/attribution/attribution-rules.ts";
import { type Calendar, calendarOf, daysBetween, spanOf } from "../domain/calendar.ts";
import type { JsonObject } from "../domain/json.ts";
import type { PostbackBook } from "../domain/postback/postback-book.ts";
import { retentionMoment } from "../domain/postback/postback-moment.ts";
import type { Occurrence } from "../domain/postback/postback-rule.ts";
import { addActivity } from "../domain/user/user-figures.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import type { EntryHead } from "../journal/entry.ts";
import { Concerns, type GainedKey } from "./concerns.ts";
import { addCounters } from "./day-counters.ts";
import type { SentEvent } from "./decode.ts";
import { FreshTouches } from "./fresh-touches.ts";
import { standingOf } from "./standing.ts";

const MINUTE_MS = 60_000;

/** An event that the app's own systems want to be told of. */
export type OwnEvent = { user: UserAccount; event: SentEvent; receivedAtMs: number };

export type AppContext = AppRules & { calendar: Calendar; rules: RuleBook; book: PostbackBook | undefined };

/** What facts are judged by: settings of attribution, and what each app tells to whom. */
export type Rulings = {
  settings?: readonly (RuleSettings & { appId: number })[];
  books?: ReadonlyMap<number, PostbackBook>;
};

/** `journalId`: the journal that the batch is of; undefined for what is taken in out of turn. */
export type Erasures = {
  journalId: string | undefined;
  digest: ErasureDigest;
  byDigest: ReadonlyMap<string, readonly Erasure[]>;
};

export type Before = { placeDay: string; standing: string; latestDay: string };

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
  readonly asaTokens: AsaTokenChange[] = [];
  /** Keys that users had for a while in the course of the batch. */
  readonly pastKeys: GainedKey[] = [];
  /** What happened of which somebody may have to be told. */
  readonly moments: UserMoment[] = [];
  readonly ownEvents: OwnEvent[] = [];
  /** Properties that had no room in the profiles of their users. */
  leftOut = 0;
  /** Profiles that the batch has made and that nothing but their user refers to. */
  readonly ownProfiles = new Set<JsonObject>();
  /** When the entry at hand was received, and where it stands in the journal. */
  receivedAtMs = 0;
  position = 0;
  /** Erasures of users of whom the batch brings something. */
  erasures: Erasures | undefined;
  /** The platforms of the campaigns that registrations of the batch name, by app and campaign. */
  readonly campaignPlatforms = new Map<string, string>();
  /** Touches that were not stored before, and whom they concern. */
  fresh = new FreshTouches([]);
  concerns = Concerns.NONE;
  /** Users of whom the batch brings something by which they have to be decided: the position of the last such entry. */
  readonly heardAt = new Map<string, number>();
  /** Positions at which the batch has to be cut. */
  readonly cuts: number[] = [];
  readonly #users: Map<string, UserAccount>;
  /** Who was in the tables before this batch, and where in the cube. Users are changed in place. */
  readonly #stored: Map<string, Before>;
  readonly #changed = new Set<string>();
  readonly #days = new Map<string, UserDay>();
  readonly #instants = new Map<string, { user: UserAccount; atMs: number; counters: UserDay }>();
  /** The counters that a user's last event went to: the next one nearly always goes there too. */
  readonly #lastDay = new Map<UserAccount, UserDay>();
  #newDays: UserDay[] | undefined;
  readonly #ledger = new Map<string, LedgerCount>();
  readonly #touchLedger = new Map<string, LedgerCount>();

  constructor(apps: readonly AppRules[], users: readonly UserAccount[], { settings = [], books }: Rulings = {}) {
    this.apps = new Map(
      apps.map((app) => {
        const rules = new RuleBook(settings.filter((setting) => setting.appId === app.appId));
        return [app.appId, { ...app, calendar: calendarOf(app.timeZone), rules, book: books?.get(app.appId) }];
      }),
    );
    this.#users = new Map(users.map((user) => [userKey(user), user]));
    this.#stored = new Map(users.map((user) => [userKey(user), beforeOf(user)]));
  }

  /** Whether the user was in the tables before this batch. */
  isStored(user: UserKey): boolean {
    return this.#stored.has(userKey(user));
  }

  before(user: UserKey): Before | undefined {
    return this.#stored.get(userKey(user));
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

  /**
   * Whether an entry comes from before its user was erased, by another way than the one that leads to the erasure. Or
   * from after it, by a process that has not heard of it yet and takes the client for registered.
   */
  isErased({ head, from }: { head: EntryHead; from: number }): boolean {
    const user = { appId: head.app, clientId: head.client };
    let isAfter = false;
    for (const erasure of this.#erasuresOf(user)) {
      const isInTurn = erasure.journalId === this.erasures?.journalId;
      const isBefore = isInTurn ? from < erasure.position : head.at < erasure.erasedAtMs;
      if (isBefore && !isInTurn) return true;
      if (!isBefore) isAfter = true;
    }
    const isRegistration = head.kind === "register" || head.kind === "initialize" || head.kind === "attributed";
    return isAfter && head.registered === "yes" && !isRegistration && !this.user(user);
  }

  /** In a replay: of whom nobody may be told any more, because further on in the journal the user is erased. */
  isErasedLater(user: UserKey): boolean {
    return this.#erasuresOf(user).some(({ erasedAtMs }) => erasedAtMs > this.receivedAtMs);
  }

  #erasuresOf(user: UserKey): readonly Erasure[] {
    if (!this.erasures || this.erasures.byDigest.size === 0) return [];
    const { digest, byDigest } = this.erasures;
    return byDigest.get(digest.of(user)) ?? [];
  }

  /** The entry at hand says something of where the user came from. */
  hear(user: UserKey): void {
    this.heardAt.set(userKey(user), this.position);
  }

  /**
   * The entry at hand builds on the decisions about a stored user. Where something before it in the batch concerns the
   * user, those decisions are still open, and the batch has to be cut here.
   */
  needsDecisions(user: UserAccount): void {
    if (!this.isStored(user) && !user.returned) return;
    const from = this.cuts.at(-1) ?? 0;
    const isHeard = (this.heardAt.get(userKey(user)) ?? -1) >= from;
    if (isHeard || this.concerns.isTouched(userKey(user), { from, until: this.position }))
      this.cuts.push(this.position);
  }

  /** Who may have to be decided. Only who is registered has a source. */
  usersToDecide(): UserAccount[] {
    const keys = new Set([...this.heardAt.keys(), ...this.concerns.storedUsers().map(userKey)]);
    return [...keys].flatMap((key) => {
      const user = this.#users.get(key);
      return user?.isRegistered ? [user] : [];
    });
  }

  changedUsers(): UserAccount[] {
    return [...this.#changed].map((key) => this.#users.get(key)!);
  }

  /** New users, and those who stand elsewhere in the cube now than before. */
  placedUsers(): UserAccount[] {
    return this.changedUsers().filter((user) => this.before(user)?.standing !== standingOf(user));
  }

  /** The counters of a user at an instant: its local day and both its spans. Touching them makes the day active. */
  day(user: UserAccount, atMs: number): UserDay {
    const day = this.app(user.appId).calendar.dayOf(atMs);
    // A new user's touch is decided only at the end of the batch: until then its instants are kept apart.
    if (!this.isStored(user)) return this.#dayAt(user, atMs, day);
    const spanT = spanOf(atMs, user.touchedAtMs ?? user.registeredAtMs);
    const spanR = spanOf(atMs, user.registeredAtMs);
    const last = this.#lastDay.get(user);
    if (last?.day === day && last.spanT === spanT && last.spanR === spanR) return last;
    const key = `${user.appId}\t${user.clientId}\t${day}\t${spanT}\t${spanR}`;
    let counters = this.#days.get(key);
    if (!counters) {
      counters = newUserDay(user, { day, spanT, spanR });
      this.#days.set(key, counters);
    }
    this.#lastDay.set(user, counters);
    this.#noteActive(user, day, atMs);
    return counters;
  }

  #dayAt(user: UserAccount, atMs: number, day: string): UserDay {
    const key = `${user.appId}\t${user.clientId}\t${atMs}`;
    let instant = this.#instants.get(key);
    if (!instant) {
      instant = { user, atMs, counters: newUserDay(user, { day, spanT: 0, spanR: 0 }) };
      this.#instants.set(key, instant);
    }
    this.#noteActive(user, day, atMs);
    return instant.counters;
  }

  #noteActive(user: UserAccount, day: string, atMs: number): void {
    addActivity(user, day);
    this.#changed.add(userKey(user));
    const retentionDays = this.app(user.appId).book?.retentionDays;
    if (!retentionDays || retentionDays.size === 0 || user.isHistory) return;
    const daysAfter = daysBetween(user.registeredDay, day);
    if (!retentionDays.has(daysAfter)) return;
    this.noteMoments(user, [retentionMoment({ atMs, day, receivedAtMs: this.receivedAtMs }, daysAfter)]);
  }

  /** History that is brought over from another system was told by that one. */
  noteMoments(user: UserAccount, occurrences: readonly Occurrence[]): void {
    if (user.isHistory || !this.app(user.appId).book?.tellsPlatforms) return;
    // What a later entry changes of the user must not decide on this moment: it may be in another batch.
    const userProperties = user.properties;
    this.ownProfiles.delete(userProperties);
    for (const occurrence of occurrences) this.moments.push({ user, occurrence: { ...occurrence, userProperties } });
  }

  /** Of users who were stored before. */
  storedUserDays(): UserDay[] {
    return [...this.#days.values()];
  }

  /** Of new users, once attribution is decided: their spans are counted from the touch. */
  newUserDays(): UserDay[] {
    if (this.#newDays) return this.#newDays;
    const days = new Map<string, UserDay>();
    for (const { user, atMs, counters } of this.#instants.values()) {
      const spanT = spanOf(atMs, user.touchedAtMs ?? user.registeredAtMs);
      const spanR = spanOf(atMs, user.registeredAtMs);
      const key = `${userKey(user)}\t${counters.day}\t${spanT}\t${spanR}`;
      const known = days.get(key);
      if (known) addCounters(known, counters);
      else days.set(key, { ...counters, spanT, spanR });
    }
    this.#newDays = [...days.values()];
    return this.#newDays;
  }

  count(appId: number, receivedAtMs: number, outcome: string, events: number): void {
    this.#countIn(this.#ledger, { appId, receivedAtMs, outcome, events });
  }

  countTouch(appId: number, receivedAtMs: number, outcome: string): void {
    for (const each of ["received", outcome]) {
      this.#countIn(this.#touchLedger, { appId, receivedAtMs, outcome: each, events: 1 });
    }
  }

  #countIn(
    ledger: Map<string, LedgerCount>,
    count: { appId: number; receivedAtMs: number; outcome: string; events: number },
  ): void {
    const { appId, receivedAtMs, outcome, events } = count;
    if (events === 0) return;
    const minuteMs = Math.floor(receivedAtMs / MINUTE_MS) * MINUTE_MS;
    const key = `${appId} ${minuteMs} ${outcome}`;
    const known = ledger.get(key);
    if (known) known.events += events;
    else ledger.set(key, { appId, minuteMs, outcome, events });
  }

  ledger(): LedgerCount[] {
    return [...this.#ledger.values()];
  }

  touchLedger(): LedgerCount[] {
    return [...this.#touchLedger.values()];
  }
}

export function newUserDay(user: UserKey, at: Pick<UserDay, "day" | "spanT" | "spanR">): UserDay {
  return {
    appId: user.appId,
    clientId: user.clientId,
    ...at,
    trackEvents: 0,
    registerEvents: 0,
    payCount: 0,
    payCents: 0,
    adCount: 0,
    adMicros: 0,
  };
}

function beforeOf(user: UserAccount): Before {
  return { placeDay: user.placeDay, standing: standingOf(user), latestDay: user.latestLoginDay ?? "" };
}

/** A client that has sent events without a registration, or the empty start of one that registers. */
export function newUser(key: UserKey, registeredAtMs: number, app: Pick<AppContext, "calendar">): UserAccount {
  // Written out, without a spread: of an object this large, a spread costs more than all the rest of a registration.
  return {
    appId: key.appId,
    clientId: key.clientId,
    name: "",
    channel: "",
    version: 0,
    wxOpenid: "",
    wxUnionid: "",
    isRegistered: false,
    registeredAtMs,
    registrationReceivedAtMs: registeredAtMs,
    registeredDay: app.calendar.dayOf(registeredAtMs),
    placeDay: app.calendar.dayOf(registeredAtMs),
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
    launch: {},
    method: "",
    decisionNumber: 0,
    returned: null,
    payCount: 0,
    payCents: 0,
    payMaxCents: 0,
    firstPayAtMs: null,
    firstPayMethod: "",
    firstPayReason: "",
    adCount: 0,
    adMicros: 0,
    adMaxEcpmMicros: 0,
    ad24hCount: 0,
    ad24hMicros: 0,
    rewardAdCount: 0,
    rewardAdMicros: 0,
    rewardAdMaxEcpmMicros: 0,
    rewardAd24hMicros: 0,
    interstitialAdCount: 0,
    interstitialAdMicros: 0,
    interstitialAdMaxEcpmMicros: 0,
    interstitialAd24hMicros: 0,
    latestLoginDay: null,
  };
}
