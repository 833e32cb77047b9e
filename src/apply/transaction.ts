import type pg from "pg";
import { noteAdCampaigns } from "../db/ad-campaign.ts";
import { noteAdRevenueChanges } from "../db/ad-revenue-change.ts";
import { assertApplies } from "../db/apply-holder.ts";
import { changeAsaTokens } from "../db/asa-token.ts";
import { deleteDecisions, insertDecisions, storeDecisions } from "../db/attribution-decision.ts";
import { type ColdEvents, ColdUnreadable } from "../db/cold-event.ts";
import { atPlace } from "../db/engine/place.ts";
import { allowIdle, inTransaction, preferIndexes } from "../db/engine/pool.ts";
import { onOneMachine } from "../db/engine/sql.ts";
import { type ErasureDigest, eraseMentions } from "../db/erased-user.ts";
import { EventCopy } from "../db/event.ts";
import { storeOrigins } from "../db/event-origin.ts";
import { lockAppCursor, lockCursor, moveAppCursor, moveCursor, readCursor } from "../db/journal-cursor.ts";
import { loadReadUntil } from "../db/lake-app.ts";
import { addToLedger } from "../db/ledger-minute.ts";
import { noteObserved } from "../db/metadata.ts";
import { insertOrders } from "../db/orders.ts";
import { isSetAside, markReplayed, type SetAside, type SetAsideKey, setAside } from "../db/set-aside.ts";
import { addTouchDays } from "../db/touch-day.ts";
import type { TouchWeekState } from "../db/touch-week.ts";
import { insertUsers, storeUsers } from "../db/user-account.ts";
import { changesOfAds, noteAdsOf } from "../db/user-ad-day.ts";
import { addUserDays, insertUserDays } from "../db/user-day.ts";
import { addUserKeys, insertUserKeys } from "../db/user-key.ts";
import type { EventParts } from "../domain/event/event-part.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import type { Batch } from "./batch.ts";
import type { DecodedEntry } from "./entry/decode.ts";
import { appsOf, firstReceivedAtMs, lastReceivedAtMs } from "./entry/entry-heads.ts";
import type { EventShape } from "./entry/sent-event.ts";
import type { Facts } from "./facts/facts.ts";
import { LakeNews } from "./facts/lake-news.ts";
import type { ObservedNames } from "./facts/observed-names.ts";
import { Tallies } from "./facts/tallies.ts";
import type { Partitions } from "./partitions.ts";
import { adCampaignsOf } from "./step/ad-campaigns.ts";
import { type Decided, decideUsers } from "./step/attribution.ts";
import { applyEventsEntry } from "./step/collected.ts";
import { markDirty } from "./step/dirty-slices.ts";
import { applyErasure } from "./step/erasure.ts";
import { markLakeDays } from "./step/lake-marks.ts";
import { judgeMoments, writePostbacks } from "./step/postbacks.ts";
import { readUsers } from "./step/read-users.ts";
import { applyRefunds, applyRefundsEntry } from "./step/refunds.ts";
import { applyUserEntry } from "./step/registration.ts";
import { applyRename } from "./step/rename.ts";
import { recountDays } from "./step/spans.ts";
import { findEvents, findOrders, type Stored } from "./step/stored.ts";
import { countTotals, groupNewOrders } from "./step/totals.ts";
import { touchDaysOf } from "./step/touch-days.ts";
import { type SortedTouches, sortTouches, storeTouches } from "./touch/touches.ts";

/**
 * "elsewhere": the cursor is not where the batch begins. "cut_needed": nothing was applied, because the batch must be
 * applied in parts that begin at these positions.
 */
export type BatchOutcome =
  | { kind: "applied"; tallies: Tallies; setAside: number }
  | { kind: "already_applied"; position: number }
  | { kind: "elsewhere"; position: number }
  | { kind: "cut_needed"; positions: ReadonlySet<number> };

type Context = {
  partitions: Pick<Partitions, "partsAt">;
  /** Reads events that are only in the lake. */
  cold: ColdEvents | undefined;
  weeks: ReadonlyMap<string, TouchWeekState>;
  names: ObservedNames;
  /** The term in which this process may apply. */
  term: string;
  erasureDigest: ErasureDigest;
};

/** With the parts as they are until the transaction ends. */
type PartedContext = Context & { parts: EventParts };

/** The entries' journal; absent for a set-aside entry, which is applied out of turn. */
type Origin = { journalId?: string };

/**
 * Applies a batch; facts and cursor commit together. The commit does not wait for the disk: a crash of the database
 * loses facts and cursor together, and the journal, which is on disk, yields them again. A segment is deleted only when
 * a cursor known to be durable has passed it (see intake/pruning.ts).
 */
export async function applyBatch(pool: pg.Pool, batch: Batch, context: Context): Promise<BatchOutcome> {
  const { appId } = batch;
  const work = async (tx: pg.PoolClient): Promise<BatchOutcome> => {
    const parted = await withParts(tx, context);
    if (appId !== undefined) return applyToApp(tx, { ...batch, appId }, parted);
    return onOneMachine(tx, () => applyToAll(tx, batch, parted));
  };
  try {
    return await inTransaction(pool, work, "deferred");
  } catch (error) {
    if (error instanceof CutNeeded) return { kind: "cut_needed", positions: error.positions };
    throw error;
  }
}

/** Makes sure that this process applies. From then on no day becomes cold until the transaction ends. */
async function withParts(tx: pg.PoolClient, context: Context): Promise<PartedContext> {
  const freezes = await assertApplies(tx, context.term);
  const parts = await context.partitions.partsAt(tx, freezes);
  if (!parts.hasCold) return { ...context, parts, cold: undefined };
  if (!context.cold) throw new ColdUnreadable("this process has no reader.");
  // The engine may have to read many files.
  await allowIdle(tx, COLD_MS_MAX);
  return { ...context, parts };
}

/** How long the lake may take to answer a batch. */
const COLD_MS_MAX = 600_000;

async function applyToAll(tx: pg.PoolClient, batch: Batch, context: PartedContext): Promise<BatchOutcome> {
  const position = await lockCursor(tx, batch);
  if (position >= batch.until) return { kind: "already_applied", position };
  if (position !== batch.from) return { kind: "elsewhere", position };
  const applied = await applyReadable(tx, batch, context);
  await eraseMentions(tx, erasedIn(batch));
  await moveCursor(tx, batch, { position: batch.until, receivedAtMs: lastReceivedAtMs(batch.entries) });
  return applied;
}

/** Applies what the app's own cursor has not passed: a crash may have come between the apps of a stretch. */
async function applyToApp(tx: pg.PoolClient, batch: AppBatch, context: PartedContext): Promise<BatchOutcome> {
  // A coordinator that has fallen back has a cursor from before what was read ahead.
  const reached = await readCursor(tx, batch);
  if (reached !== batch.stretchFrom) return { kind: "elsewhere", position: reached };
  const position = await lockAppCursor(tx, batch);
  const entries = batch.entries.filter(({ from }) => from >= position);
  if (entries.length === 0) return { kind: "already_applied", position };
  const applied = await atPlace(tx, batch, () => applyReadable(tx, { ...batch, entries }, context));
  await moveAppCursor(tx, batch, batch.until);
  return applied;
}

type AppBatch = Batch & { appId: number };

async function applyReadable(tx: pg.PoolClient, batch: Batch, context: PartedContext): Promise<BatchOutcome> {
  const unreadable = batch.entries.filter((entry) => entry.kind === "unreadable");
  // Must come before the entries: an erasure among them also deletes what is set aside.
  await setAside(
    tx,
    unreadable.map((entry) => asSetAside(batch, entry, entry.reason)),
  );
  const tallies = await applyEntries(tx, batch, { ...context, journalId: batch.journalId });
  return { kind: "applied", tallies, setAside: unreadable.length };
}

/**
 * Ends a stretch whose apps are all applied, each in transactions of its own. What belongs to no app comes here; it may
 * be done again after a crash without a difference. Then the cursor moves.
 */
export async function endStretch(
  pool: pg.Pool,
  batch: Batch,
  term: string,
): Promise<{ kind: "ended"; setAside: number } | { kind: "elsewhere"; position: number }> {
  return inTransaction(pool, async (tx) => {
    await assertApplies(tx, term);
    const position = await lockCursor(tx, batch);
    if (position !== batch.from) return { kind: "elsewhere" as const, position };
    const setAside = await endWithoutApp(tx, batch);
    await moveCursor(tx, batch, { position: batch.until, receivedAtMs: lastReceivedAtMs(batch.entries) });
    return { kind: "ended" as const, setAside };
  });
}

/** Returns the number of entries that belong to no app, each of which is set aside once. */
async function endWithoutApp(tx: pg.PoolClient, batch: Batch): Promise<number> {
  let found = 0;
  for (const entry of batch.entries) {
    if (entry.kind === "erasure") await eraseMentions(tx, [entry.user]);
    if (entry.kind !== "unreadable" || entry.head) continue;
    found += 1;
    const item = asSetAside(batch, entry, entry.reason);
    if (!(await isSetAside(tx, item))) await setAside(tx, [item]);
  }
  return found;
}

function erasedIn({ entries }: Batch): UserKey[] {
  const erased: UserKey[] = [];
  for (const entry of entries) if (entry.kind === "erasure") erased.push(entry.user);
  return erased;
}

/** Applies a set-aside entry out of turn, and only once: its mark and its facts commit together. */
export async function applySetAside(pool: pg.Pool, row: SetAsideKey, batch: Batch, context: Context): Promise<void> {
  await inTransaction(pool, async (tx) => {
    const parted = await withParts(tx, context);
    if (!(await markReplayed(tx, row))) return;
    for (const entry of batch.entries) if (entry.kind === "unreadable") throw new Error(entry.reason);
    await applyEntries(tx, batch, parted);
    await eraseMentions(tx, erasedIn(batch));
  });
}

/** The steps of a batch. */
async function applyEntries(
  tx: pg.PoolClient,
  { entries, settings }: Batch,
  context: PartedContext & Origin,
): Promise<Tallies> {
  await preferIndexes(tx);

  // 1. Read what is stored about the touches, users, events and orders of the batch.
  const touches = await sortTouches(tx, entries, context.weeks);
  const users = await readUsers(tx, { entries, settings, touches }, context);
  if (!users) throw new CutNeeded([entries[entries.length >> 1]!.from]);
  const { parts, names, cold } = context;
  const events = await findEvents(tx, entries, { users, parts, cold });
  const stored = { parts, names, noted: new Set<EventShape>(), events, orders: await findOrders(tx, entries) };

  // 2. Apply the entries in memory, in journal order.
  const news = new LakeNews(await loadReadUntil(tx, appsOf(entries)), parts);
  const facts = { settings, users, tallies: new Tallies(tx), news };
  countTouches(facts, touches);
  await takeIn(tx, facts, entries, stored);
  if (users.open.cuts.length > 0) throw new CutNeeded(users.open.cuts);

  // 3. Decide where users came from, and then what is reported about them.
  const decided = await decideUsers(tx, facts);
  const regrouped = users.regrouped();
  groupNewOrders(facts);
  const rows = judgeMoments(facts, decided);

  // 4. Write everything, with a few statements per table.
  await writeFacts(tx, facts, decided);
  const receivedAtMs = firstReceivedAtMs(entries);
  const counted = [...facts.tallies.days.newUsers(), ...facts.tallies.days.storedUsers()];
  await noteAdRevenueChanges(tx, changesOfAds(counted), receivedAtMs);
  await noteAdsOf(tx, users.reidentified(), receivedAtMs);
  const refunded = await applyRefunds(tx, facts);
  await writePostbacks(tx, facts, { rows, regrouped, receivedAtMs: lastReceivedAtMs(entries), cold });
  await noteAdCampaigns(tx, adCampaignsOf(users.open.fresh.list, regrouped));
  await addTouchDays(tx, touchDaysOf(users.open.fresh, settings));
  const moved = decided.moved.filter((user) => users.isStored(user));
  await recountDays(tx, settings, { users: moved, receivedAtMs, cold });
  await countTotals(tx, facts);
  await markDirty(tx, facts, { regrouped, refunded: refunded.slices, receivedAtMs });
  await markLakeDays(tx, facts, { refunded, receivedAtMs });

  // 5. Rename and erase. A rename or an erasure is always the last entry of its batch.
  for (const entry of entries) {
    if (entry.kind === "rename") await applyRename(tx, users, entry, cold);
    if (entry.kind === "erasure") await applyErasure(tx, entry, context);
  }
  return facts.tallies;
}

/**
 * The batch must be applied in parts: some entries depend on decisions about earlier ones, or the profiles of its users
 * are too large together. It is thrown so that the transaction rolls back.
 */
class CutNeeded extends Error {
  readonly positions: ReadonlySet<number>;

  constructor(positions: readonly number[]) {
    super("The batch has to be applied in parts.");
    this.positions = new Set(positions);
  }
}

function countTouches({ tallies }: Facts, { outcomes }: SortedTouches): void {
  for (const { entry, outcome } of outcomes) {
    tallies.touchLedger.add(entry.head, "received", 1);
    tallies.touchLedger.add(entry.head, outcome, 1);
  }
}

async function takeIn(
  tx: pg.PoolClient,
  facts: Facts,
  entries: readonly DecodedEntry[],
  stored: Stored,
): Promise<void> {
  const { eventRows } = facts.tallies;
  const events = new EventCopy(tx);
  try {
    for (const entry of entries) {
      if (entry.kind === "events") applyEventsEntry(facts, entry, stored);
      else if (entry.kind === "refunds") applyRefundsEntry(facts, entry);
      else if (entry.kind === "user" && !facts.users.isErased(entry)) applyUserEntry(facts, entry);
      // The database stores the first events while later ones are still being applied.
      if (eventRows.isFull) await events.write(eventRows);
    }
    await events.write(eventRows);
  } finally {
    await events.end();
  }
  await storeOrigins(tx, facts.tallies.origins);
}

async function writeFacts(tx: pg.PoolClient, { users, tallies }: Facts, decided: Decided): Promise<void> {
  const isStored = (row: UserKey) => users.isStored(row);
  const isNew = (row: UserKey) => !users.isStored(row);
  const changed = users.changed();
  await storeTouches(tx, users.open.fresh.list);
  const added = changed.filter(isNew);
  for (const { appId } of added) tallies.newUsers.set(appId, (tallies.newUsers.get(appId) ?? 0) + 1);
  await insertUsers(tx, added);
  await insertDecisions(tx, decided.decisions.filter(isNew));
  await insertUserKeys(tx, decided.keys.filter(isNew));
  await insertUserDays(tx, tallies.days.newUsers());
  await storeUsers(tx, changed.filter(isStored));
  await deleteDecisions(tx, decided.withdrawn);
  await storeDecisions(tx, decided.decisions.filter(isStored));
  await addUserKeys(tx, decided.keys.filter(isStored));
  await addUserDays(tx, tallies.days.storedUsers());
  await insertOrders(tx, tallies.orders);
  await addToLedger(tx, "ledger_minute", tallies.ledger.list());
  await addToLedger(tx, "touch_minute", tallies.touchLedger.list());
  await noteObserved(tx, tallies.observed);
  await changeAsaTokens(tx, tallies.asaTokens);
}

/** Sets aside an entry that made the transaction fail, with the reason, and moves the cursor past it. */
export async function setAsideEntry(
  pool: pg.Pool,
  batch: Batch,
  { reason, term }: { reason: string; term: string },
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await assertApplies(tx, term);
    const { appId } = batch;
    const position = await (appId === undefined ? lockCursor(tx, batch) : lockAppCursor(tx, { ...batch, appId }));
    if (appId === undefined ? position !== batch.from : position > batch.from) return;
    await setAside(
      tx,
      batch.entries.map((entry) => asSetAside(batch, entry, reason)),
    );
    if (appId !== undefined) return moveAppCursor(tx, { ...batch, appId }, batch.until);
    await moveCursor(tx, batch, { position: batch.until, receivedAtMs: lastReceivedAtMs(batch.entries) });
  });
}

function asSetAside({ journalId, partition }: Batch, entry: DecodedEntry, reason: string): SetAside {
  const { from, until, payload, head } = entry;
  const [appId, receivedAtMs] = [head?.app ?? null, head?.at ?? null];
  return { journalId, partition, from, until, appId, receivedAtMs, reason, payload };
}
