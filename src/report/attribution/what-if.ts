import type { AppRules } from "../../db/app.ts";
import { pageDecisions, type StoredDecision } from "../../db/attribution-decision.ts";
import { loadRuleSettings } from "../../db/attribution-setting.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadUsers, type UserAccount } from "../../db/user-account.ts";
import { type LaterRevenue, loadLaterRevenue } from "../../db/user-revenue.ts";
import { decide, ORGANIC } from "../../domain/attribution/attribution.ts";
import { RuleBook, type RuleSettings, type Rules } from "../../domain/attribution/attribution-rules.ts";
import { addDays, calendarOf } from "../../domain/calendar.ts";
import { roundHalfAway } from "../../domain/money.ts";

const DECISIONS_PER_PAGE = 250;

/** What one platform and campaign would gain or lose under other rules. Money in cents. */
export type WhatIfRow = {
  ad_platform: string;
  campaign: string;
  users: number;
  users_then: number;
  gained: number;
  lost: number;
  revenue_cents: number;
  revenue_then_cents: number;
};

export type WhatIf = { decisions: number; moved: number; moved_revenue_cents: number; rows: WhatIfRow[] };

/** `everywhere`: rules that override all settings. `set`: rules set for one platform, or for the app (empty text). */
export type TriedRules =
  | { kind: "everywhere"; rules: Partial<Rules> }
  | { kind: "set"; platform: string; rules: Partial<Rules> };

type Range = { fromDay: string; toDay: string };

/** Revenue in millionths until the end: an ad often earns less than a cent, and reports round a sum once too. */
type Sums = Omit<WhatIfRow, "revenue_cents" | "revenue_then_cents"> & { micros: number; microsThen: number };

/**
 * Decides every registration of some days again, under other rules, from the candidates that were stored with the
 * decision. Changes nothing. Candidates reach back as far as touches are kept, so wider windows can be tried too.
 */
export async function whatIf(
  executor: Executor,
  app: Pick<AppRules, "appId" | "timeZone">,
  range: Range,
  tried: TriedRules,
): Promise<WhatIf> {
  const settings = await loadRuleSettings(executor, [app.appId]);
  const rules = bookOf(settings, tried);
  const rows = new Map<string, Sums>();
  let [decisions, moved, movedMicros] = [0, 0, 0];
  for await (const { decision, user, later } of registrations(executor, app, range)) {
    const now = creditedTo(decision.adPlatform, decision.campaignId);
    const then = creditedUnder(rules, decision, user);
    const micros = revenueMicros(user, later);
    decisions += 1;
    const from = rowOf(rows, now);
    const to = rowOf(rows, then);
    from.users += 1;
    from.micros += micros;
    to.users_then += 1;
    to.microsThen += micros;
    if (from === to) continue;
    from.lost += 1;
    to.gained += 1;
    moved += 1;
    movedMicros += micros;
  }
  const order = (row: WhatIfRow) => `${row.ad_platform}\n${row.campaign}`;
  const shown = [...rows.values()].map(shownRow).sort((left, right) => (order(left) < order(right) ? -1 : 1));
  return { decisions, moved, moved_revenue_cents: centsOf(movedMicros), rows: shown };
}

function shownRow({ micros, microsThen, ...row }: Sums): WhatIfRow {
  return { ...row, revenue_cents: centsOf(micros), revenue_then_cents: centsOf(microsThen) };
}

function bookOf(settings: readonly RuleSettings[], tried: TriedRules): RuleBook {
  if (tried.kind === "everywhere") return new RuleBook(settings, tried.rules);
  return new RuleBook([...settings.filter(({ platform }) => platform !== tried.platform), tried]);
}

async function* registrations(
  executor: Executor,
  app: Pick<AppRules, "appId" | "timeZone">,
  { fromDay, toDay }: Range,
): AsyncGenerator<{ decision: StoredDecision; user: UserAccount; later: LaterRevenue }> {
  const calendar = calendarOf(app.timeZone);
  const times = { fromMs: calendar.startOf(fromDay), untilMs: calendar.startOf(addDays(toDay, 1)) };
  let after = { clientId: "", number: 0 };
  for (;;) {
    const limit = DECISIONS_PER_PAGE;
    const page = await pageDecisions(executor, { appId: app.appId, ...times, after, limit });
    const first = page.filter((decision) => decision.number === 1);
    const users = new Map((await loadUsers(executor, first, [])).map((user) => [user.clientId, user]));
    const later = await loadLaterRevenue(executor, [...users.values()]);
    for (const decision of first) {
      const user = users.get(decision.clientId);
      if (user) yield { decision, user, later: later.get(user.clientId)! };
    }
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    after = { clientId: last.clientId, number: last.number };
  }
}

type Credited = { adPlatform: string; campaign: string };

function creditedUnder(rules: RuleBook, decision: StoredDecision, user: UserAccount): Credited {
  const { launch, campaign, reported } = decision.subject;
  const subject = { atMs: decision.atMs, launch: launch ?? undefined, campaign, reported: reported ?? undefined };
  if (subject.reported !== undefined) return creditedTo(decision.adPlatform, decision.campaignId);
  const { verdict } = decide(subject, decision.candidates, rules);
  const own = user.launch.campaignId ?? "";
  if (verdict.kind === "organic") return creditedTo("", own);
  return creditedTo(verdict.platform, verdict.touch?.campaignId || own);
}

function creditedTo(adPlatform: string, campaign: string): Credited {
  return { adPlatform: adPlatform || ORGANIC, campaign };
}

function rowOf(rows: Map<string, Sums>, { adPlatform, campaign }: Credited): Sums {
  const key = `${adPlatform}\n${campaign}`;
  const row = rows.get(key) ?? {
    ad_platform: adPlatform,
    campaign,
    users: 0,
    users_then: 0,
    gained: 0,
    lost: 0,
    micros: 0,
    microsThen: 0,
  };
  rows.set(key, row);
  return row;
}

const CENT_MICROS = 10_000;

/** Payments less refunds, and ad revenue as reports count it: reported, pulled or estimated. */
function revenueMicros(user: UserAccount, later: LaterRevenue): number {
  return (user.payCents - later.refundCents) * CENT_MICROS + user.adMicros + later.adMicros;
}

function centsOf(micros: number): number {
  return roundHalfAway(micros / CENT_MICROS);
}
