import type pg from "pg";
import { noteAdCampaigns } from "../db/ad-campaign.ts";
import { loadAppRules } from "../db/app.ts";
import { assertApplies } from "../db/apply-holder.ts";
import { changeAsaTokens } from "../db/asa-token.ts";
import { deleteDecisions, insertDecisions, storeDecisions } from "../db/attribution-decision.ts";
import { loadRuleSettings } from "../db/attribution-setting.ts";
import { ROWS_PER_CHUNK } from "../db/engine/copy.ts";
import { inTransaction, preferIndexes } from "../db/engine/pool.ts";
import { type Erasure, type ErasureDigest, loadErasures } from "../db/erased-user.ts";
import { type EventKey, eventCopy, findStoredEvents } from "../db/event.ts";
import { lockCursor, moveCursor } from "../db/journal-cursor.ts";
import { addToLedger } from "../db/ledger-minute.ts";
import { noteObserved } from "../db/metadata.ts";
import { findOrderKeys, insertOrders, type OrderKey } from "../db/orders.ts";
import { markReplayed, setAside } from "../db/set-aside.ts";
import { addTouchDays } from "../db/touch-day.ts";
import type { TouchWeekState } from "../db/touch-week.ts";
import {
  insertUsers,
  loadUsers,
  loadUsersWithin,
  renameUser,
  storeUsers,
  type UserAccount,
} from "../db/user-account.ts";
import { addUserDays, insertUserDays } from "../db/user-day.ts";
import { addUserKeys, insertUserKeys } from "../db/user-key.ts";
import { type EventParts, isNear, type WantedDay } from "../domain/event/event-part.ts";
import { isClientId } from "../domain/user/identity.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { LIMITS } from "../limits.ts";
import { adCampaignsOf } from "./ad-campaigns.ts";
import { type Decided, decideUsers } from "./attribution.ts";
import { applyEventsEntry, eventKey, orderKey, paymentOf, type Stored } from "./collected.ts";
import { Concerns } from "./concerns.ts";
import { type DecodedEntry, textOf } from "./decode.ts";
import { markDirty } from "./dirty-slices.ts";
import { applyErasure, isErasure } from "./erasure.ts";
import { type Erasures, Facts, userKey } from "./facts.ts";
import { FreshTouches } from "./fresh-touches.ts";
import type { ObservedNames } from "./observed-names.ts";
import { judgeMoments, loadBooks, writePostbacks } from "./postbacks.ts";
import { applyUserEntry } from "./registration.ts";
import { allKeysOf } from "./source.ts";
import { recountDays } from "./spans.ts";
import { touchDaysOf } from "./touch-days.ts";
import { LOOK_BACK_MS_MIN, sortTouches, storeTouches, weekOfTouch } from "./touches.ts";

/** A stretch of the journal that takes effect as a whole. */
export type Batch = { journalId: string; from: number; until: number; entries: readonly DecodedEntry[] };

export type Outcome =
  | { kind: "applied"; facts: Facts; setAside: number }
  | { kind: "already_applied"; position: number }
  | { kind: "elsewhere"; position: number };

type Context = {
  parts: EventParts;
  weeks: ReadonlyMap<string, TouchWeekState>;
  names: ObservedNames;
  /** Of the process that may apply. */
  term: string;
  erasureDigest: ErasureDigest;
};

/**
 * The batch has to be applied in parts: its entries build on decisions about entries before them, or the profiles of its
 * users are too large together.
 */
export class CutNeeded extends Error {
  readonly positions: ReadonlySet<number>;

  constructor(positions: readonly number[]) {
    super("The batch has to be applied in parts.");
    this.positions = new Set(positions);
  }
}

/** Which journal the entries stand in; absent for what is taken in out of turn. */
type Origin = { journalId?: string };

/**
 * Facts and cursor commit together. The commit does not wait for the disk: after a crash of the database the facts and
 * the cursor are gone together, and the journal, which is on the disk, gives them again. Segments are only deleted
 * after a cursor that is known to be durable (see intake/flow.ts).
 */
export async function applyBatch(pool: pg.Pool, batch: Batch, context: Context): Promise<Outcome> {
  return inTransaction(
    pool,
    async (tx) => {
      await assertApplies(tx, context.term);
      const position = await lockCursor(tx, batch.journalId);
      if (position >= batch.until) return { kind: "already_applied", position };
      if (position !== batch.from) return { kind: "elsewhere", position };
      const unreadable = batch.entries.filter((entry) => entry.kind === "unreadable");
      // Before the entries: an erasure among them takes away what is set aside, too.
      await setAside(
        tx,
        unreadable.map((entry) => asSetAside(batch.journalId, entry, entry.reason)),
      );
      const facts = await applyEntries(tx, batch.entries, { ...context, journalId: batch.journalId });
      await moveCursor(tx, batch.journalId, batch.until);
      return { kind: "applied", facts, setAside: unreadable.length };
    },
    "deferred",
  );
}

/** Takes in what was set aside before, out of turn. Once only: its mark and its facts commit together. */
export async function applySetAside(
  pool: pg.Pool,
  setAsideId: number,
  entry: DecodedEntry,
  context: Context,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await assertApplies(tx, context.term);
    if (!(await markReplayed(tx, setAsideId))) return;
    if (entry.kind === "unreadable") throw new Error(entry.reason);
    await applyEntries(tx, [entry], context);
  });
}

async function applyEntries(
  tx: pg.PoolClient,
  entries: readonly DecodedEntry[],
  context: Context & Origin,
): Promise<Facts> {
  await preferIndexes(tx);
  const facts = await gatherFacts(tx, entries, context);
  const decided = await decideUsers(tx, facts);
  const placed = facts.placedUsers();
  const rows = judgeMoments(facts, decided);
  await writeFacts(tx, facts, decided);
  await writePostbacks(tx, facts, { rows, placed });
  await noteAdCampaigns(tx, adCampaignsOf(facts.fresh.list, placed));
  await addTouchDays(tx, touchDaysOf(facts));
  await recountDays(
    tx,
    facts,
    decided.moved.filter((user) => facts.isStored(user)),
  );
  await markDirty(
    tx,
    { facts, placed },
    Math.min(...entries.map((entry) => entry.head?.at ?? Number.MAX_SAFE_INTEGER)),
  );
  for (const entry of entries) {
    if (isRename(entry)) await applyRename(tx, facts, entry);
    if (isErasure(entry)) await applyErasure(tx, entry, context);
  }
  return facts;
}

/** An entry that made the transaction fail: kept with the reason, and passed over. */
export async function setAsideEntry(
  pool: pg.Pool,
  batch: Batch,
  { reason, term }: { reason: string; term: string },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await assertApplies(tx, term);
    const position = await lockCursor(tx, batch.journalId);
    if (position !== batch.from) return;
    await setAside(
      tx,
      batch.entries.map((entry) => asSetAside(batch.journalId, entry, reason)),
    );
    await moveCursor(tx, batch.journalId, batch.until);
  });
}

function asSetAside(journalId: string, entry: DecodedEntry, reason: string) {
  const { from, until, payload, head } = entry;
  return { journalId, from, until, appId: head?.app ?? null, receivedAtMs: head?.at ?? null, reason, payload };
}

/** A new client id ends a batch (see applier.ts), so that nothing after it in memory still goes by the old one. */
export function isRename(entry: DecodedEntry): boolean {
  return entry.kind === "user" && entry.head.kind === "reset_client_id";
}

async function gatherFacts(
  tx: pg.PoolClient,
  entries: readonly DecodedEntry[],
  context: Context & Origin,
): Promise<Facts> {
  const facts = await startFacts(tx, entries, context);
  const stored: Stored = {
    ...context,
    events: await findStored(tx, entries, facts),
    orders: await findOrders(tx, entries),
  };
  const events = eventCopy(tx);
  try {
    for (const entry of entries) {
      facts.receivedAtMs = entry.head?.at ?? facts.receivedAtMs;
      facts.position = entry.from;
      if (entry.kind === "events") applyEventsEntry(facts, entry, stored);
      else if (isAboutUser(entry) && !facts.isErased(entry)) applyUserEntry(facts, entry.head, entry.body);
      // The database stores the first events while the facts of the others are still being gathered.
      if (facts.eventRows.length >= ROWS_PER_CHUNK) await events.write(facts.eventRows.splice(0));
    }
    await events.write(facts.eventRows.splice(0));
  } finally {
    await events.end();
  }
  if (facts.cuts.length > 0) throw new CutNeeded(facts.cuts);
  return facts;
}

/** What the tables know of those whom the batch is about: its users, and those whom one of its touches may have brought. */
async function startFacts(
  tx: pg.PoolClient,
  entries: readonly DecodedEntry[],
  context: Context & Origin,
): Promise<Facts> {
  const appIds = appsOf(entries);
  const apps = await loadAppRules(tx, appIds);
  const rulings = { settings: await loadRuleSettings(tx, appIds), books: await loadBooks(tx, appIds) };
  const touches = await sortTouches(tx, entries, context.weeks);
  const fresh = new FreshTouches(touches.fresh);
  const empty = new Facts(apps, [], rulings);
  const windowMs = (appId: number) => Math.max(LOOK_BACK_MS_MIN, empty.app(appId).rules.longestWindowMs);
  const concerns = await Concerns.load(tx, fresh, { windowMs, nameOf: userKey });
  const keys = new Map([...usersOf(entries), ...concerns.storedUsers()].map((key) => [userKey(key), key]));
  const facts = new Facts(apps, await loadUsersOf(tx, [...keys.values()], entries), rulings);
  facts.fresh = fresh;
  facts.concerns = concerns;
  facts.erasures = await findErasures(tx, entries, {
    users: [...keys.values()].filter((key) => !facts.isStored(key)),
    ...context,
  });
  for (const { entry, outcome } of touches.outcomes) {
    facts.countTouch(entry.head.app, entry.head.at, outcome);
  }
  return facts;
}

async function loadUsersOf(
  tx: pg.PoolClient,
  keys: readonly UserKey[],
  entries: readonly DecodedEntry[],
): Promise<UserAccount[]> {
  const middle = entries[Math.floor(entries.length / 2)];
  if (entries.length < 2 || !middle) return loadUsers(tx, keys);
  const users = await loadUsersWithin(tx, keys, LIMITS.applyProfileBytes);
  if (!users) throw new CutNeeded([middle.from]);
  return users;
}

function isAboutUser(entry: DecodedEntry): entry is Extract<DecodedEntry, { kind: "user" }> {
  return entry.kind === "user" && !isRename(entry) && !isErasure(entry);
}

/** Nearly always none: only of who is new to the tables, and of what was received before somebody was erased. */
async function findErasures(
  tx: pg.PoolClient,
  entries: readonly DecodedEntry[],
  { users, journalId, erasureDigest: digest }: { users: readonly UserKey[]; erasureDigest: ErasureDigest } & Origin,
): Promise<Erasures> {
  const afterMs = Math.min(...entries.map((entry) => entry.head?.at ?? Number.MAX_SAFE_INTEGER));
  const erasures = await loadErasures(tx, { users, afterMs }, digest);
  const byDigest = new Map<string, Erasure[]>();
  for (const erasure of erasures) byDigest.set(erasure.digest, [...(byDigest.get(erasure.digest) ?? []), erasure]);
  return { journalId, digest, byDigest };
}

async function writeFacts(tx: pg.PoolClient, facts: Facts, decided: Decided): Promise<void> {
  const isStored = (row: UserKey) => facts.isStored(row);
  const isNew = (row: UserKey) => !facts.isStored(row);
  const users = facts.changedUsers();
  await storeTouches(tx, facts.fresh.list);
  await insertUsers(tx, users.filter(isNew));
  await insertDecisions(tx, decided.decisions.filter(isNew));
  await insertUserKeys(tx, decided.keys.filter(isNew));
  await insertUserDays(tx, facts.newUserDays());
  await storeUsers(tx, users.filter(isStored));
  await deleteDecisions(tx, decided.withdrawn);
  await storeDecisions(tx, decided.decisions.filter(isStored));
  await addUserKeys(tx, decided.keys.filter(isStored));
  await addUserDays(tx, facts.storedUserDays());
  await insertOrders(tx, facts.orders);
  await addToLedger(tx, "ledger_minute", facts.ledger());
  await addToLedger(tx, "touch_minute", facts.touchLedger());
  await noteObserved(tx, facts.observed);
  await changeAsaTokens(tx, facts.asaTokens);
}

function usersOf(entries: readonly DecodedEntry[]): UserKey[] {
  const keys = new Map<string, UserKey>();
  for (const { head } of entries) {
    // A touch has no client yet.
    if (!head || head.client === "") continue;
    const key = { appId: head.app, clientId: head.client };
    keys.set(userKey(key), key);
  }
  return [...keys.values()];
}

/**
 * Which of the batch's events are in the database already. An event later than every stored one of its user cannot be,
 * and that is nearly all of them: only the others are looked up.
 */
async function findStored(tx: pg.PoolClient, entries: readonly DecodedEntry[], facts: Facts): Promise<Set<string>> {
  const suspects: EventKey[] = [];
  for (const entry of entries) {
    if (entry.kind !== "events") continue;
    const { app: appId, client: clientId } = entry.head;
    const latestMs = facts.user({ appId, clientId })?.latestEventAtMs ?? null;
    if (latestMs === null) continue;
    const { calendar } = facts.app(appId);
    for (const { atMs, fingerprint } of entry.events) {
      if (atMs <= latestMs) suspects.push({ appId, clientId, day: calendar.dayOf(atMs), atMs, fingerprint });
    }
  }
  const found = await findStoredEvents(tx, suspects);
  return new Set(found.map((event) => eventKey(event.appId, event.clientId, event.fingerprint)));
}

async function findOrders(tx: pg.PoolClient, entries: readonly DecodedEntry[]): Promise<Set<string>> {
  const keys: OrderKey[] = [];
  for (const entry of entries) {
    if (entry.kind !== "events") continue;
    for (const event of entry.events) {
      const payment = paymentOf(event, entry);
      if (payment) keys.push({ appId: entry.head.app, traceId: payment.traceId });
    }
  }
  const found = await findOrderKeys(tx, keys);
  return new Set(found.map((order) => orderKey(order.appId, order.traceId)));
}

/** An id that somebody already has is not given away: the rename then changes nothing. */
async function applyRename(tx: pg.PoolClient, facts: Facts, entry: DecodedEntry): Promise<void> {
  if (entry.kind !== "user" || facts.isErased(entry)) return;
  const { app: appId, client: clientId, at: renamedAtMs } = entry.head;
  const newClientId = textOf(entry.body.new_client_id);
  const found = await loadUsers(
    tx,
    [...new Set([clientId, newClientId])].map((id) => ({ appId, clientId: id })),
  );
  const user = found.find((one) => one.clientId === clientId);
  if (!user || found.some((one) => one.clientId === newClientId) || !isClientId(newClientId)) return;
  await storeUsers(tx, [{ ...user, clientId: newClientId }]);
  await renameUser(tx, { appId, clientId, newClientId, renamedAtMs, keys: allKeysOf(user) });
}

/**
 * The local days that the events of a batch fall on, in the order of the journal: each as it is first named near the time
 * of receipt, and as it is first named far from it.
 */
export function daysOf(entries: readonly DecodedEntry[], facts: Pick<Facts, "apps">): WantedDay[] {
  const wanted = new Map<string, WantedDay>();
  for (const entry of entries) {
    if (entry.kind !== "events") continue;
    const calendar = facts.apps.get(entry.head.app)?.calendar;
    if (!calendar) continue;
    const receivedAtMs = entry.head.at;
    for (const day of new Set(entry.events.map((event) => calendar.dayOf(event.atMs)))) {
      const key = isNear({ day, receivedAtMs }) ? day : `far ${day}`;
      if (!wanted.has(key)) wanted.set(key, { day, receivedAtMs });
    }
  }
  return [...wanted.values()];
}

/** The apps that the entries of a batch belong to. */
export function appsOf(entries: readonly DecodedEntry[]): number[] {
  return [...new Set(entries.flatMap((entry) => (entry.kind === "unreadable" ? [] : [entry.head.app])))];
}

/** The weeks that the touches of a batch fall on. */
export function weeksOf(entries: readonly DecodedEntry[]): Set<string> {
  return new Set(
    entries.flatMap((entry) => (entry.kind === "touch" && entry.read ? [weekOfTouch(entry.read.touch)] : [])),
  );
}
