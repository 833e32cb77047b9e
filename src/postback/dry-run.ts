import type pg from "pg";
import type { AppRules } from "../db/app.ts";
import { holdDays } from "../db/apply-holder.ts";
import { COLD_NOWHERE, type ColdEvents } from "../db/cold-event.ts";
import { inTransaction, preferIndexes } from "../db/engine/pool.ts";
import type { EventRow } from "../db/event.ts";
import { loadPastMoments, type UserMoment } from "../db/past-moments.ts";
import { ALL_DAYS, type DayRange } from "../db/postback-history.ts";
import { countUsers, pageUsers, type UserAccount } from "../db/user-account.ts";
import { ORGANIC } from "../domain/attribution/attribution.ts";
import { addDays, calendarOf } from "../domain/calendar.ts";
import { AD_MOMENTS, ownEventOf, retentionDaysOf } from "../domain/postback/moment-name.ts";
import { POSTBACK_STATUS } from "../domain/postback/postback.ts";
import { isToldOnce, type Judgement, judge, type PostbackRule } from "../domain/postback/postback-rule.ts";
import { ApiError } from "../errors.ts";
import { loadConnectors } from "../outbound/connectors.ts";
import type { Connectors } from "../platform/connectors.ts";

const USERS_AT_ONCE = 500;

/** What would have been sent to one platform. Money in cents. */
export type DryRunRow = {
  ad_platform: string;
  sent: number;
  amount_cents: number;
  skipped: number;
  reasons: Record<string, number>;
};

export type DryRun = { users: number; sent: number; amount_cents: number; skipped: number; platforms: DryRunRow[] };

export type DryRunOptions = {
  /** Local days, both ends included. */
  days: DayRange;
  progress?: (done: number, total: number) => void;
  /** Whether the caller has gone and nobody waits for the answer. */
  isUnwanted?: () => boolean;
  /** Where events are read that are only in the lake. */
  cold?: ColdEvents;
};

/**
 * Judges the moments of some days by one rule alone, as if it had always existed, and counts what would have been sent.
 * Nothing is sent or stored. Every platform that takes postbacks counts as having an account, so that a rule can be
 * tried before there is one. One page of users is in memory at a time, all from one snapshot.
 */
export async function dryRun(
  pool: pg.Pool,
  app: Pick<AppRules, "appId" | "timeZone">,
  rule: PostbackRule,
  options: DryRunOptions,
): Promise<DryRun> {
  const tried: PostbackRule = { ...rule, enabled: true };
  const rows = new Map<string, DryRunRow>();
  const users = await inTransaction(
    pool,
    async (tx) => {
      await holdDays(tx);
      const total = await countUsers(tx, app.appId);
      const { days, cold = COLD_NOWHERE } = options;
      const wanted = { rule: tried, days, cold, connectors: await loadConnectors(tx, app.appId) };
      await preferIndexes(tx);
      let [done, afterClientId] = [0, ""];
      for (;;) {
        options.progress?.(Math.min(done, total), total);
        if (options.isUnwanted?.()) throw new ApiError("overloaded", "The caller has gone.");
        const limit = USERS_AT_ONCE;
        const page = await pageUsers(tx, { appId: app.appId, afterClientId, limit });
        for (const one of await judgedOf(tx, app, page, wanted)) add(rows, one);
        done += page.length;
        afterClientId = page.at(-1)?.clientId ?? "";
        if (page.length < limit) break;
      }
      options.progress?.(done, done);
      return done;
    },
    "snapshot",
  );
  const platforms = [...rows.values()].sort((left, right) => (left.ad_platform < right.ad_platform ? -1 : 1));
  const sum = (name: "sent" | "amount_cents" | "skipped") => platforms.reduce((all, row) => all + row[name], 0);
  return { users, sent: sum("sent"), amount_cents: sum("amount_cents"), skipped: sum("skipped"), platforms };
}

type Wanted = { rule: PostbackRule; days: DayRange; cold: ColdEvents; connectors: Connectors };
type Judged = { user: UserAccount; judgement: Judgement; traceId: string; day: string };

async function judgedOf(
  tx: pg.PoolClient,
  { timeZone }: Pick<AppRules, "timeZone">,
  users: readonly UserAccount[],
  { rule, days, cold, connectors }: Wanted,
): Promise<Judged[]> {
  const [event, retentionDays] = [ownEventOf(rule.moment), retentionDaysOf(rule.moment)];
  const book = {
    events: new Set(event === undefined ? [] : [event]),
    retentionDays: new Set(retentionDays === undefined ? [] : [retentionDays]),
    hasAdViews: AD_MOMENTS.includes(rule.moment),
  };
  // A conversion that is reported once per user may have happened before these days.
  const looked = isToldOnce(rule.eventType) ? { ...days, fromDay: ALL_DAYS.fromDay } : days;
  const past = await loadCold(tx, users, { book, days: looked, cold });
  const moments = await loadPastMoments(tx, users, { book, calendar: calendarOf(timeZone), days: looked, cold: past });
  const judged = onePerSubject(moments.flatMap((moment) => judgedMoment(rule, moment, connectors)));
  return judged.filter(({ day }) => day >= days.fromDay && day <= days.toDay);
}

/** The users' events that are only in the lake and that the rule is about: those of its name, or of certain days. */
async function loadCold(
  tx: pg.PoolClient,
  users: readonly UserAccount[],
  { book, days, cold }: { book: Book; days: DayRange; cold: ColdEvents },
): Promise<EventRow[]> {
  const [first] = users;
  if (!first) return [];
  const wish = { appId: first.appId, clientIds: users.map(({ clientId }) => clientId) };
  const untilDay = addDays(days.toDay, 1);
  const names = [...book.events, ...(book.hasAdViews ? ["$AdShow"] : [])];
  // Ad views are counted from the user's first one.
  const fromDay = book.hasAdViews ? ALL_DAYS.fromDay : days.fromDay;
  if (names.length > 0) return cold.load(tx, { ...wish, type: "track", names, fromDay, untilDay });
  if (book.retentionDays.size === 0) return [];
  const active = users.flatMap((user) => [...book.retentionDays].map((after) => addDays(user.registeredDay, after)));
  const narrowed = { type: "track" as const, propertiesOf: [], days: [...new Set(active)] };
  return cold.load(tx, { ...wish, ...narrowed, fromDay, untilDay });
}

type Book = { events: ReadonlySet<string>; retentionDays: ReadonlySet<number>; hasAdViews: boolean };

/** The judgements on a moment; none for users whom the rule does not concern. */
function judgedMoment(rule: PostbackRule, { user, occurrence }: UserMoment, connectors: Connectors): Judged[] {
  if (occurrence.moment !== rule.moment) return [];
  const reach = connectors.postbackOf(user.adPlatform) ? "account" : "takes_none";
  const { traceId, day } = occurrence;
  return judge(occurrence, user, { rules: [rule], reach })
    .filter(({ reason }) => reason !== "no_rule")
    .map((judgement) => ({ user, judgement, traceId, day }));
}

/** One per subject, as stored: the first, unless it was skipped and a later one for the same order would be sent. */
function onePerSubject(all: readonly Judged[]): Judged[] {
  const bySubject = new Map<string, Judged>();
  for (const one of all) {
    const key = `${one.user.clientId}\n${one.judgement.subject}`;
    const known = bySubject.get(key);
    const isBetter = known && known.traceId === one.traceId && known.judgement.status > one.judgement.status;
    if (!known || isBetter) bySubject.set(key, one);
  }
  return [...bySubject.values()];
}

function add(rows: Map<string, DryRunRow>, { user, judgement }: Judged): void {
  const ad_platform = user.adPlatform || ORGANIC;
  const row = rows.get(ad_platform) ?? { ad_platform, sent: 0, amount_cents: 0, skipped: 0, reasons: {} };
  rows.set(ad_platform, row);
  if (judgement.status === POSTBACK_STATUS.waiting) {
    row.sent += 1;
    row.amount_cents += judgement.cents ?? 0;
    return;
  }
  row.skipped += 1;
  row.reasons[judgement.reason] = (row.reasons[judgement.reason] ?? 0) + 1;
}
