import type pg from "pg";
import type { DecisionKey, StoredDecision } from "../../db/attribution-decision.ts";
import { loadCampaignPlatforms } from "../../db/campaign.ts";
import type { UserAccount } from "../../db/user-account.ts";
import type { KeyOfUser } from "../../db/user-key.ts";
import { type Decision, decide, type FoundTouch } from "../../domain/attribution/attribution.ts";
import type { RuleBook } from "../../domain/attribution/attribution-rules.ts";
import type { Source } from "../../domain/attribution/launch.ts";
import { METHODS } from "../../domain/attribution/method.ts";
import type { Key } from "../../domain/attribution/touch-key.ts";
import { DAY_MS } from "../../domain/calendar.ts";
import type { Facts } from "../facts/facts.ts";
import { findCandidates, type Question } from "../touch/candidates.ts";
import type { GainedKey } from "../touch/concerns.ts";
import { type Arrival, heldSource, keysOf, registrationOf, sourceOf, subjectOf } from "./source.ts";

/** A registration or a return of a user, with the keys that it brought. */
type Arrived = { user: UserAccount; arrival: Arrival; isReturn: boolean; keys: Key[] };
/** An arrival that is to be decided. */
type Case = Arrived & Question;

/** The decisions and keys to write, the decisions to delete, and the users whose touch has changed. */
export type Decided = {
  decisions: StoredDecision[];
  withdrawn: DecisionKey[];
  keys: KeyOfUser[];
  moved: UserAccount[];
};

/**
 * Decides the source of every user about whom the batch brings something new. A decision counts the touches up to the
 * last journal entry that concerns the user (an entry of the user's own, or a touch that shares a key with the user)
 * and none after it. So the result does not depend on how the journal is cut into batches.
 */
export async function decideUsers(tx: pg.PoolClient, facts: Pick<Facts, "settings" | "users">): Promise<Decided> {
  const { settings, users } = facts;
  const open = users.toDecide();
  const cases = casesOf(facts, open, await loadPlatforms(tx, open));
  const found = await findCandidates(tx, { questions: cases, fresh: users.open.fresh }, isOpen);
  const decided: Decided = { decisions: [], withdrawn: [], keys: keysOfCases(users.open.pastKeys, cases), moved: [] };
  const before = new Map<UserAccount, number | null>();
  let registration: Source | undefined;
  for (const [index, one] of cases.entries()) {
    const { user, isReturn } = one;
    // A user's registration comes first among the user's cases.
    if (!isReturn) before.set(user, user.touchedAtMs);
    const source = settleCase(one, found[index]!, { decided, registration });
    if (!isReturn) registration = source;
    user.cohortDay = settings.of(one.appId).calendar.dayOf(user.touchedAtMs ?? user.registeredAtMs);
    users.put(user);
  }
  for (const [user, touchedAtMs] of before) if (user.touchedAtMs !== touchedAtMs) decided.moved.push(user);
  return decided;
}

/** Decides a case and notes what is to be written. Returns the source; `registration` is that of the user's registration. */
function settleCase(
  one: Case,
  found: readonly FoundTouch[],
  { decided, registration }: { decided: Decided; registration: Source | undefined },
): Source {
  const { user, subject, rules, isReturn } = one;
  const decision = decide(subject, found, rules);
  const source = sourceOf(isReturn ? { ...user, reported: null } : user, one.arrival, decision.verdict);
  if (!isReturn) {
    decided.decisions.push(asStored(one, settleRegistration(user, source), decision, source));
  } else if (isNewTouch(user, source, rules.app.reclickDays)) {
    decided.decisions.push(asStored(one, settleReturn(user, source), decision, source));
  } else {
    decided.withdrawn.push(...withdrawReturn(user, registration!));
  }
  return source;
}

/** The platforms of the campaigns that registrations name, by app and campaign. Most registrations name none. */
type CampaignPlatforms = ReadonlyMap<string, string>;

/** Campaigns, like rules, apply as they are set now. */
async function loadPlatforms(tx: pg.PoolClient, users: readonly UserAccount[]): Promise<CampaignPlatforms> {
  const named: { appId: number; campaignId: string }[] = [];
  for (const { appId, launch, returned } of users) {
    if (launch.campaignId) named.push({ appId, campaignId: launch.campaignId });
    if (returned?.launch.campaignId) named.push({ appId, campaignId: returned.launch.campaignId });
  }
  const campaigns = await loadCampaignPlatforms(tx, named);
  return new Map(campaigns.map((one) => [`${one.appId}\t${one.campaignId}`, one.adPlatform]));
}

/**
 * The keys that a user has before an entry that may change them. They must be kept when an earlier entry of the same
 * batch was about the user: had that entry been in a batch of its own, the keys would be in the table.
 */
export function keysAtHand({ settings, users }: Facts, user: UserAccount): GainedKey[] {
  const gainedAt = users.open.heardAt(user);
  if (gainedAt === undefined) return [];
  return arrivalsOf(user, settings.of(user.appId).rules).flatMap((arrived) => gainedKeys(arrived, gainedAt));
}

function gainedKeys(arrived: Arrived, gainedAt: number): GainedKey[] {
  return keysOfArrived(arrived).map((key) => ({ ...key, gainedAt }));
}

/** The decisions to make, each with the journal position up to which it counts touches. */
function casesOf(
  { settings, users: { open } }: Pick<Facts, "settings" | "users">,
  users: readonly UserAccount[],
  platforms: CampaignPlatforms,
): Case[] {
  const arrived: Arrived[] = [];
  for (const user of users) for (const one of arrivalsOf(user, settings.of(user.appId).rules)) arrived.push(one);
  const gained = () =>
    arrived.flatMap((one) => {
      const heardAt = open.heardAt(one.user);
      return heardAt === undefined ? [] : gainedKeys(one, heardAt);
    });
  const touchedAt = open.concerns.positions(() => [...open.pastKeys, ...gained()]);
  const cases: Case[] = [];
  for (const one of arrived) {
    const { user } = one;
    const seenUntil = Math.max(open.heardAt(user) ?? -1, touchedAt.get(user) ?? -1);
    if (seenUntil >= 0) cases.push(caseOf(one, seenUntil, { rules: settings.of(user.appId).rules, platforms }));
  }
  return cases;
}

function caseOf(
  { user, arrival, isReturn, keys }: Arrived,
  seenUntil: number,
  { rules, platforms }: { rules: RuleBook; platforms: CampaignPlatforms },
): Case {
  const { appId } = user;
  const found = subjectOf(user, arrival, (id) => platforms.get(`${appId}\t${id}`));
  const subject = isReturn ? { ...found, reported: undefined } : found;
  // Not spread, here and in what follows for each user: that took a fifth of the time of deciding.
  return { user, arrival, isReturn, keys, appId, rules, seenUntil, subject };
}

/** The user's arrivals, registration first: the return is judged against the registration's outcome. */
function arrivalsOf(user: UserAccount, rules: RuleBook): Arrived[] {
  const registration = registrationOf(user);
  const arrived = [{ user, arrival: registration, isReturn: false, keys: keysOf(user, registration) }];
  if (user.returned && rules.app.reattribution) {
    arrived.push({ user, arrival: user.returned, isReturn: true, keys: keysOf(user, user.returned) });
  }
  return arrived;
}

/** Whether more touches under a key can change the decision: only while no click has won by the surest method. */
function isOpen({ subject, rules }: Question, found: readonly FoundTouch[]): boolean {
  const { verdict } = decide(subject, found, rules);
  if (verdict.kind !== "attributed" || verdict.method === "reported") return verdict.method !== "reported";
  return !(verdict.method === METHODS[0] && verdict.touch?.kind === "click");
}

/** Settles the registration. Judging it again does not undo a later return that won. */
function settleRegistration(user: UserAccount, source: Source): number {
  if (user.decisionNumber <= 1) Object.assign(user, source, { decisionNumber: 1 });
  return 1;
}

/** Settles a return that has won the user. It keeps the source it replaces, in case it is withdrawn. */
function settleReturn(user: UserAccount, source: Source): number {
  const returned = user.returned!;
  const held = { number: user.decisionNumber, source: heldSource(user) };
  if (returned.number === 0) {
    user.returned = { ...returned, number: held.number + 1, ...(held.number > 1 && { earlier: held }) };
  }
  const { number } = user.returned!;
  Object.assign(user, source, { decisionNumber: number });
  return number;
}

/**
 * Withdraws a return that has not won the user, or no longer does because a surer touch turned out not to be new. The
 * decision before it holds again, as if everything had been known from the beginning, so that cuts between batches
 * change nothing.
 */
function withdrawReturn(user: UserAccount, registration: Source): DecisionKey[] {
  const { earlier, ...returned } = user.returned!;
  // An earlier version did not keep the source before a second return, so its decision stays.
  if (returned.number === 0 || (returned.number > 2 && !earlier)) return [];
  const { appId, clientId } = user;
  user.returned = { ...returned, number: 0 };
  Object.assign(user, earlier?.source ?? registration, { decisionNumber: earlier?.number ?? 1 });
  return [{ appId, clientId, number: returned.number }];
}

/**
 * Whether a return wins the user: its touch must be newer than the last decision, and by `reclickDays` unless the user
 * was long silent.
 */
function isNewTouch(user: UserAccount, source: Source, reclickDays: number): boolean {
  const { returned } = user;
  if (!returned || source.adPlatform === "") return false;
  const touchedAtMs = source.touchedAtMs ?? returned.atMs;
  return touchedAtMs >= returned.beforeMs + (returned.isReflux ? 1 : reclickDays * DAY_MS);
}

function asStored(one: Case, number: number, { verdict, candidates }: Decision, source: Source): StoredDecision {
  const { user, arrival, subject, keys } = one;
  const touch = verdict.kind === "attributed" ? verdict.touch : undefined;
  const winner = candidates.find(({ outcome }) => outcome === "won");
  return {
    appId: user.appId,
    clientId: user.clientId,
    number,
    atMs: arrival.atMs,
    decidedAtMs: Math.max(arrival.atMs, ...candidates.map((candidate) => candidate.touch.receivedAtMs)),
    method: verdict.method ?? "",
    adPlatform: source.adPlatform,
    touchId: touch?.touchId ?? null,
    touchedAtMs: source.touchedAtMs,
    campaignId: source.campaignId,
    flags: [...(winner?.flags ?? [])],
    subject: {
      launch: subject.launch ?? null,
      ...(subject.campaign && { campaign: subject.campaign }),
      reported: subject.reported ?? null,
      keys: [...new Set(keys.map(({ by }) => by))].sort(),
    },
    // Only what explains the decision and lets it be made again; the other details stay with the touch.
    candidates: candidates.map((candidate) => ({ ...candidate, touch: { ...candidate.touch, details: {} } })),
  };
}

function keysOfArrived({ user, arrival, keys }: Arrived): KeyOfUser[] {
  const { appId, clientId } = user;
  return keys.map(({ value, method }) => ({ appId, clientId, key: value, method, atMs: arrival.atMs }));
}

/** The keys of the cases and those held for a while, each once. */
function keysOfCases(pastKeys: readonly GainedKey[], cases: readonly Case[]): KeyOfUser[] {
  const unique = new Map<string, KeyOfUser>();
  for (const one of pastKeys) unique.set(keyText(one), one);
  for (const one of cases) for (const key of keysOfArrived(one)) unique.set(keyText(key), key);
  return [...unique.values()];
}

function keyText({ key, atMs, appId, clientId }: KeyOfUser): string {
  return `${key} ${atMs} ${appId} ${clientId}`;
}
