import type { AppRules } from "../db/app.ts";
import { preferIndexes } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import { loadOrders } from "../db/orders.ts";
import { insertOutbox } from "../db/outbox.ts";
import { loadReaches } from "../db/platform-account.ts";
import { postbackKeyText, reopenPostbacks, showPostbacksInOrders } from "../db/postback.ts";
import {
  ALL_STATUSES,
  FIRST_POSITION,
  type ListedPostback,
  type PostbackFilter,
  type PostbackPosition,
  pagePostbacks,
} from "../db/postback-list.ts";
import { loadPostbackRules } from "../db/postback-rule.ts";
import { loadUsers, type UserAccount } from "../db/user-account.ts";
import { addDays, calendarOf } from "../domain/calendar.ts";
import { POSTBACK_STATUS } from "../domain/postback/postback.ts";
import { PostbackBook } from "../domain/postback/postback-book.ts";
import type { ResendRefusal, ResendWish } from "../domain/postback/postback-request.ts";
import { toldAmount } from "../domain/postback/postback-rule.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { loadConnectors } from "../outbound/connectors.ts";

export type Resent = {
  taken: number;
  refused: Partial<Record<ResendRefusal, number>>;
  /** Whether there may be more: one call sends a limited number. */
  has_more: boolean;
};

/**
 * Puts failed or skipped postbacks back into the outbox, with the current state of their users and accounts. An
 * accepted postback is never sent again. Must run in a transaction.
 */
export async function resendPostbacks(
  tx: Executor,
  app: Pick<AppRules, "appId" | "timeZone">,
  wish: ResendWish,
  nowMs: number,
): Promise<Resent> {
  const filter = filterOf(app, wish);
  await preferIndexes(tx);
  const book = await loadBook(tx, app.appId);
  const resent: Resent = { taken: 0, refused: {}, has_more: false };
  let after: PostbackPosition = FIRST_POSITION;
  let found = 0;
  for (;;) {
    const page = await pagePostbacks(tx, filter, { after, limit: LIMITS.postbacksAtOnce });
    await resendPage(tx, { book, page, nowMs }, resent);
    found += page.length;
    if (page.length < LIMITS.postbacksAtOnce) break;
    if (resent.taken >= LIMITS.postbacksResent) {
      resent.has_more = true;
      break;
    }
    after = page.at(-1)!;
  }
  if (found === 0 && wish.kind !== "ended") throw new ApiError("badParameter", "There is no matching postback.");
  return resent;
}

function filterOf({ appId, timeZone }: Pick<AppRules, "appId" | "timeZone">, wish: ResendWish): PostbackFilter {
  if (wish.kind === "selected") return { appId, statuses: ALL_STATUSES, postbacks: wish.postbacks };
  if (wish.kind === "client") {
    const { clientId, eventType, traceId } = wish;
    return { appId, statuses: ALL_STATUSES, clientId, eventType, traceId };
  }
  const { status, reason, adPlatform, days } = wish;
  const calendar = calendarOf(timeZone);
  return {
    appId,
    statuses: [status],
    reason,
    adPlatform,
    ...(days && { fromMs: calendar.startOf(days.fromDay), untilMs: calendar.startOf(addDays(days.toDay, 1)) }),
  };
}

async function loadBook(tx: Executor, appId: number): Promise<PostbackBook> {
  const connectors = await loadConnectors(tx, appId);
  return new PostbackBook({
    appId,
    rules: await loadPostbackRules(tx, [appId]),
    accounts: await loadReaches(tx, [appId]),
    own: { attribution: false, events: new Set() },
    takesPostbacks: (platform) => connectors.postbackOf(platform) !== undefined,
  });
}

type Page = { book: PostbackBook; page: readonly ListedPostback[]; nowMs: number };

async function resendPage(tx: Executor, { book, page, nowMs }: Page, resent: Resent): Promise<void> {
  const users = new Map((await loadUsers(tx, oneOfEachUser(page))).map((user) => [user.clientId, user]));
  const refuse = (reason: ResendRefusal) => {
    resent.refused[reason] = (resent.refused[reason] ?? 0) + 1;
  };
  const wanted = page.flatMap((postback) => {
    const user = users.get(postback.clientId);
    const refusal = refusalOf(book, postback, user);
    if (refusal) refuse(refusal);
    return refusal || !user ? [] : [{ postback, user }];
  });
  const cents = await orderCents(
    tx,
    wanted.map(({ postback }) => postback),
  );
  const again = wanted.map(({ postback, user }) => ({
    ...postback,
    adPlatform: user.adPlatform,
    // A skipped postback never got an amount.
    valueCents:
      postback.valueCents ?? toldAmount(book.rules, { ...postback, cents: cents.get(postback.traceId) ?? null }, user),
    lane: book.laneOf(user),
    // Requested by a person: it is not taken back when the user turns out to have come from elsewhere.
    content: { ad_data: user.adData, is_resent: true, ...codeOf(book, postback, user) },
    dueAtMs: nowMs,
  }));
  const reopened = new Set((await reopenPostbacks(tx, again, nowMs)).map(postbackKeyText));
  const taken = again.filter((one) => reopened.has(postbackKeyText(one)));
  for (let missed = again.length - taken.length; missed > 0; missed -= 1) refuse("waiting");
  await insertOutbox(tx, taken);
  await showPostbacksInOrders(
    tx,
    taken.filter(({ traceId }) => traceId !== ""),
  );
  resent.taken += taken.length;
}

/** The code of the postback's rule, as long as the user belongs to the platform that it is for. */
function codeOf(book: PostbackBook, { ruleId }: ListedPostback, { adPlatform }: UserAccount): { code?: string } {
  const rule = book.rules.find((known) => known.ruleId === ruleId && known.adPlatform === adPlatform);
  return rule && rule.code !== "" ? { code: rule.code } : {};
}

function refusalOf(
  book: PostbackBook,
  { status }: ListedPostback,
  user: UserAccount | undefined,
): ResendRefusal | undefined {
  if (status === POSTBACK_STATUS.accepted) return "accepted";
  if (status === POSTBACK_STATUS.waiting) return "waiting";
  if (!user) return "user_gone";
  if (user.adPlatform === "") return "organic";
  const reach = book.reachOf(user);
  return reach === "account" ? undefined : reach;
}

/** The orders' amounts by trace_id. */
async function orderCents(tx: Executor, postbacks: readonly ListedPostback[]): Promise<Map<string, number>> {
  const ofOrders = postbacks.filter(({ traceId, valueCents }) => traceId !== "" && valueCents === null);
  if (ofOrders.length === 0) return new Map();
  const orders = await loadOrders(tx, ofOrders[0]!.appId, ofOrders);
  return new Map(orders.map(({ traceId, cents }) => [traceId, cents]));
}

function oneOfEachUser(page: readonly ListedPostback[]): ListedPostback[] {
  return [...new Map(page.map((postback) => [postback.clientId, postback])).values()];
}
