import type pg from "pg";
import type { ColdEvents, ColdWish } from "../../db/cold-event.ts";
import { restoreEarlierPostbacks } from "../../db/earlier-postback.ts";
import type { Order } from "../../db/orders.ts";
import { insertOutbox } from "../../db/outbox.ts";
import { loadPastMoments, type UserMoment } from "../../db/past-moments.ts";
import {
  type OrderOfPostback,
  postbackKeyText,
  showPostbacksInOrders,
  storePostbacks,
  withdrawPostbacks,
} from "../../db/postback.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { PASS_STATUS, POSTBACK_STATUS, type PostbackStatus, shownStatusOf } from "../../domain/postback/postback.ts";
import type { PostbackBook } from "../../domain/postback/postback-book.ts";
import { returnMoment } from "../../domain/postback/postback-moment.ts";
import { orderKeyText } from "../entry/key-text.ts";
import { UserMap } from "../entry/user-map.ts";
import type { AppSettings } from "../facts/app-settings.ts";
import type { Facts } from "../facts/facts.ts";
import type { Decided } from "./attribution.ts";
import { loadColdTracks } from "./cold.ts";
import { callbackRows } from "./own-callbacks.ts";
import { createdAt, type Row } from "./postback-row.ts";

/** Judges the moments of a batch, after attribution, and writes the postback status into the batch's orders. */
export function judgeMoments({ settings, users, tallies }: Facts, decided: Decided): Row[] {
  const returns = decided.decisions.flatMap(({ appId, clientId, number, atMs }) => {
    const user = users.find({ appId, clientId });
    if (number === 1 || user?.decisionNumber !== number) return [];
    return [
      { user, occurrence: returnMoment({ atMs, day: settings.of(appId).calendar.dayOf(atMs), receivedAtMs: atMs }) },
    ];
  });
  const rows = [...tallies.moments, ...returns].flatMap((moment) => rowsOf(settings, moment));
  if (tallies.orders.length > 0 && rows.length > 0) showInNewOrders(tallies.orders, rows);
  return rows;
}

function rowsOf(settings: AppSettings, { user, occurrence }: UserMoment): Row[] {
  const { book } = settings.of(user.appId);
  // A user found to be history by the end of the batch was history all along.
  if (!book || user.isHistory) return [];
  return book.judge(occurrence, user).map(({ eventType, code, subject, status, reason, ruleId, cents }) => ({
    postback: {
      appId: user.appId,
      clientId: user.clientId,
      eventType,
      subject,
      status,
      reason,
      ruleId,
      valueCents: cents,
      adPlatform: user.adPlatform,
      moment: occurrence.moment,
      traceId: occurrence.traceId,
      atMs: occurrence.atMs,
      isPassed: status === POSTBACK_STATUS.waiting,
      ...createdAt(occurrence.receivedAtMs),
    },
    lane: status === POSTBACK_STATUS.waiting ? book.laneOf(user) : "",
    content: { ad_data: user.adData, ...(code !== "" && { code }) },
  }));
}

/** Sets the postback status of new orders before they are inserted, so that hardly any is written twice. */
function showInNewOrders(orders: readonly Order[], rows: readonly Row[]): void {
  const told = new Map<string, { statuses: Set<PostbackStatus>; isPassed: boolean }>();
  for (const { postback } of rows) {
    const key = orderKeyText(postback);
    const { statuses, isPassed } = told.get(key) ?? { statuses: new Set(), isPassed: false };
    told.set(key, { statuses: statuses.add(postback.status), isPassed: isPassed || postback.isPassed });
  }
  for (const order of orders) {
    const shown = told.get(orderKeyText(order));
    if (!shown) continue;
    order.postbackStatus = shownStatusOf(shown.statuses);
    order.passStatus = shown.isPassed ? PASS_STATUS.passed : PASS_STATUS.held;
  }
}

/**
 * Stores postbacks in the transaction that justifies them. When a user's source has changed, all moments of that user
 * are judged again, except those already sent.
 */
export async function writePostbacks(
  tx: pg.PoolClient,
  facts: Facts,
  {
    rows,
    regrouped,
    receivedAtMs,
    cold,
  }: {
    rows: readonly Row[];
    regrouped: readonly UserAccount[];
    receivedAtMs: number;
    cold: ColdEvents | undefined;
  },
): Promise<void> {
  const { settings, users } = facts;
  if (!settings.hasBooks()) return;
  const moved = users.judgedAnew().filter((user) => settings.of(user.appId).book?.tellsPlatforms);
  const withdrawn = await withdrawPostbacks(tx, moved);
  const madeFor = new Map(withdrawn.map((row) => [postbackKeyText(row), row.madeFor]));
  const again = (await judgeAgain(tx, settings, { moved, cold })).map((row) => {
    const name = madeFor.get(postbackKeyText(row.postback));
    return name === undefined ? row : { ...row, postback: { ...row.postback, madeFor: name } };
  });
  const movedKeys = new UserMap<true>();
  for (const user of moved) movedKeys.set(user, true);
  const live = rows.filter(({ postback }) => !movedKeys.has(postback));
  const all = onePerKey([...again, ...live, ...callbackRows(facts, { regrouped, receivedAtMs })]).filter(
    ({ postback }) => !users.erasures.isErasedAfter(receivedAtMs, postback),
  );
  const postbacks = all.map(({ postback }) => postback);
  await restoreEarlierPostbacks(tx, postbacks, receivedAtMs);
  const keys = await storePostbacks(tx, postbacks);
  const isStored = new Set(keys.map(postbackKeyText));
  const stored = all.filter(({ postback }) => isStored.has(postbackKeyText(postback)));
  await insertOutbox(
    tx,
    stored
      .filter(({ postback }) => postback.status === POSTBACK_STATUS.waiting)
      .map(({ postback, lane, content }) => ({ ...postback, lane, content, dueAtMs: postback.changedAtMs })),
  );
  // New orders were inserted with their status, unless their postback was stored earlier or for another order.
  const shown = new Set(stored.map(({ postback }) => `${postbackKeyText(postback)}\t${postback.traceId}`));
  const untold = live.filter(({ postback }) => !shown.has(`${postbackKeyText(postback)}\t${postback.traceId}`));
  await showPostbacksInOrders(tx, [...withdrawn, ...ordersOf(again), ...ordersOf(untold)]);
}

/** Of whom events are in memory at once. */
const USERS_AT_ONCE = 200;

async function judgeAgain(
  tx: pg.PoolClient,
  settings: AppSettings,
  { moved, cold }: { moved: readonly UserAccount[]; cold: ColdEvents | undefined },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const appId of new Set(moved.map((user) => user.appId))) {
    const { book, calendar } = settings.of(appId);
    if (!book) continue;
    const all = moved.filter((user) => user.appId === appId);
    const moments: UserMoment[] = [];
    for (let at = 0; at < all.length; at += USERS_AT_ONCE) {
      const users = all.slice(at, at + USERS_AT_ONCE);
      const coldTracks = await loadColdTracks(tx, cold, users, coldWishOf(book));
      for (const one of await loadPastMoments(tx, users, { book, calendar, cold: coldTracks })) moments.push(one);
    }
    // In the order of receipt, as they were judged the first time.
    moments.sort((left, right) => left.occurrence.receivedAtMs - right.occurrence.receivedAtMs);
    for (const moment of moments) rows.push(...rowsOf(settings, moment));
  }
  return rows;
}

/** The events that rules name; all when they ask who came back. */
function coldWishOf({ events, hasAdViews, retentionDays }: PostbackBook): Pick<ColdWish, "names" | "propertiesOf"> {
  const names = [...events, ...(hasAdViews ? ["$AdShow"] : [])];
  return retentionDays.size > 0 ? { propertiesOf: names } : { names };
}

function ordersOf(rows: readonly Row[]): OrderOfPostback[] {
  return rows.map(({ postback }) => postback).filter(({ traceId }) => traceId !== "");
}

/** One row per key: the first, unless it was skipped and a later one for the same order will be sent. */
function onePerKey(rows: readonly Row[]): Row[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const key = postbackKeyText(row.postback);
    const known = byKey.get(key);
    if (!known) byKey.set(key, row);
    const isSame = known?.postback.traceId === row.postback.traceId;
    // Keeps the first row's creation time, as the table does when the first row came in an earlier batch.
    if (known && isSame && known.postback.status > row.postback.status) {
      byKey.set(key, { ...row, postback: { ...row.postback, createdAtMs: known.postback.createdAtMs } });
    }
  }
  return [...byKey.values()];
}
