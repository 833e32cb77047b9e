import { type PostbackStatus, SHOWN_FIRST, SHOWN_WITHOUT_POSTBACK } from "../domain/postback/postback.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { firstOfEach, newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, oneOf, query, sql } from "./engine/sql.ts";
import { STATUS } from "./postback-status.ts";
import { changeTotals, TotalChanges, type UserGroup } from "./user-total.ts";

/** A postback is unique by user, event type and subject: an order, a day, or the user as such. */
export type PostbackKey = UserKey & { eventType: string; subject: string };

export function postbackKeyText({ appId, clientId, eventType, subject }: PostbackKey): string {
  return `${appId}\t${clientId}\t${eventType}\t${subject}`;
}

export type NewPostback = PostbackKey & {
  /** Empty for a callback to the app's own systems. */
  adPlatform: string;
  ruleId: number;
  moment: string;
  traceId: string;
  atMs: number;
  valueCents: number | null;
  status: PostbackStatus;
  isPassed: boolean;
  reason: string;
  createdAtMs: number;
  /** Later than `createdAtMs` when the same moment had happened before and was skipped then. */
  changedAtMs: number;
  /** The client's id when the postback was made, if it has another one now. */
  madeFor?: string;
};

/**
 * Stores new postbacks and returns those that were stored. A skipped one can still be sent when the same moment happens
 * again. Those that were accepted, have failed or are waiting stay as they are.
 */
export async function storePostbacks(tx: Executor, rows: readonly NewPostback[]): Promise<PostbackKey[]> {
  if (rows.length === 0) return [];
  const fresh = newRows(tx, "new", rows, {
    appId: "int",
    clientId: "text",
    eventType: "text",
    subject: "text",
    adPlatform: "text",
    ruleId: "int",
    moment: "text",
    traceId: "text",
    atMs: "bigint",
    valueCents: "bigint",
    status: "int",
    isPassed: "boolean",
    reason: "text",
    createdAtMs: "bigint",
    changedAtMs: "bigint",
    madeFor: ["text", (row) => row.madeFor ?? row.clientId],
  });
  return query<PostbackKey>(
    tx,
    sql`insert into postback (app_id, client_id, event_type, subject, ad_platform, rule_id, moment, trace_id, at_ms, value_cents,
        status, is_passed, reason, created_at_ms, changed_at_ms, made_for, back_cents)
      select *, 0 from ${fresh}
      on conflict (app_id, client_id, event_type, subject) do update set ad_platform = excluded.ad_platform,
        rule_id = excluded.rule_id, moment = excluded.moment, at_ms = excluded.at_ms, value_cents = excluded.value_cents,
        status = excluded.status, is_passed = excluded.is_passed, reason = excluded.reason, changed_at_ms = excluded.changed_at_ms
      where postback.status = ${STATUS.skipped} and excluded.status = ${STATUS.waiting} and postback.trace_id = excluded.trace_id and postback.attempts = 0
      returning app_id, client_id, event_type, subject`,
  );
}

export type Withdrawn = PostbackKey & { traceId: string; madeFor: string };

/** Deletes postbacks that were never attempted, so that they can be judged again; returns them. */
export async function withdrawPostbacks(tx: Executor, users: readonly UserKey[]): Promise<Withdrawn[]> {
  if (users.length === 0) return [];
  const moved = rowsOf("moved", users, { appId: "int", clientId: "text" });
  const gone = await query<PostbackKey>(
    tx,
    sql`delete from outbox using ${moved}
      where outbox.app_id = moved.app_id and outbox.client_id = moved.client_id collate "C" and outbox.attempts = 0
        and left(outbox.event_type, 1) <> '$' and not outbox.content ? 'is_resent'
      returning outbox.app_id, outbox.client_id, outbox.event_type, outbox.subject`,
  );
  const returning = sql`postback.app_id, postback.client_id, postback.event_type, postback.subject, postback.trace_id,
    postback.made_for`;
  const waiting =
    gone.length === 0
      ? []
      : await query<Withdrawn>(
          tx,
          sql`delete from postback using ${wanted(gone)} where ${isWanted} and postback.status = ${STATUS.waiting} returning ${returning}`,
        );
  const skipped = await query<Withdrawn>(
    tx,
    sql`delete from postback using ${moved} where postback.app_id = moved.app_id and postback.client_id = moved.client_id collate "C"
      and postback.status = ${STATUS.skipped} and postback.attempts = 0 and postback.resent = 0 and left(postback.event_type, 1) <> '$' returning ${returning}`,
  );
  return [...waiting, ...skipped];
}

function wanted(keys: readonly PostbackKey[]) {
  return rowsOf("wanted", keys, { appId: "int", clientId: "text", eventType: "text", subject: "text" });
}

const isWanted = sql`postback.app_id = wanted.app_id and postback.client_id = wanted.client_id collate "C"
  and postback.event_type = wanted.event_type and postback.subject = wanted.subject collate "C"`;

/** An order that postbacks are about. */
export type OrderOfPostback = UserKey & { traceId: string };

/**
 * Updates what orders show of their postbacks. Of several statuses an order shows one (see SHOWN_FIRST). The amount is
 * the same for every event type, so the greatest one is what was sent.
 */
export async function showPostbacksInOrders(tx: Executor, orders: readonly OrderOfPostback[]): Promise<void> {
  if (orders.length === 0) return;
  // Locks the orders before reading the postbacks: otherwise two senders that end two postbacks of one order would each
  // see the other's still waiting, and the order would show that forever.
  const before = await query<ToldOrder>(
    tx,
    sql`select orders.app_id, orders.client_id, orders.trace_id, orders.back_cents from orders join ${ordersOf(orders)}
        on orders.app_id = wanted.app_id and orders.client_id = wanted.client_id collate "C" and orders.trace_id = wanted.trace_id collate "C"
      order by orders.app_id, orders.client_id, orders.trace_id for update of orders`,
    "lock_told_orders",
  );
  const after = await query<ToldOrder & UserGroup>(
    tx,
    sql`update orders set postback_status = shown.status, back_cents = shown.back_cents, pass_status = shown.pass_status,
        postback_count = shown.resent, modified_at_ms = greatest(orders.modified_at_ms, shown.changed_at_ms)
      from (
        select wanted.app_id, wanted.client_id, wanted.trace_id,
          coalesce((${SHOWN_FIRST}::int[])[min(array_position(${SHOWN_FIRST}::int[], p.status::int))], ${SHOWN_WITHOUT_POSTBACK}::int) as status,
          coalesce(max(p.back_cents), 0) as back_cents, coalesce(max(p.is_passed::int), 0) as pass_status,
          coalesce(sum(p.resent), 0)::int as resent,
          max(p.changed_at_ms) filter (where p.changed_at_ms > p.created_at_ms) as changed_at_ms
        from ${ordersOf(orders)}
        left join postback p on p.app_id = wanted.app_id and p.client_id = wanted.client_id collate "C"
          and p.trace_id = wanted.trace_id collate "C" and (p.ad_platform <> '' or p.status = ${STATUS.skipped})
        group by wanted.app_id, wanted.client_id, wanted.trace_id) shown
      where ${oneOf(sql`orders.app_id`, [...new Set(orders.map(({ appId }) => appId))])}
        and orders.app_id = shown.app_id and orders.client_id = shown.client_id collate "C" and orders.trace_id = shown.trace_id collate "C"
      returning orders.app_id, orders.client_id, orders.trace_id, orders.back_cents, orders.registered_day, orders.ad_platform`,
    "show_postbacks_in_orders",
  );
  await countTold(tx, before, after);
}

type ToldOrder = OrderOfPostback & { backCents: number };

/** Adds to the totals what platforms were told of orders. Hardly any order of apply was told yet. */
async function countTold(
  tx: Executor,
  before: readonly ToldOrder[],
  after: readonly (ToldOrder & UserGroup)[],
): Promise<void> {
  const earlier = new Map(before.map((order) => [`${order.appId}\t${order.traceId}`, order.backCents]));
  const changes = new TotalChanges();
  for (const order of after)
    changes.addBackCents(order, order.backCents - (earlier.get(`${order.appId}\t${order.traceId}`) ?? 0));
  await changeTotals(tx, changes);
}

function ordersOf(orders: readonly OrderOfPostback[]) {
  const each = firstOfEach(orders, ["appId", "clientId", "traceId"]);
  return rowsOf("wanted", each, { appId: "int", clientId: "text", traceId: "text" });
}

export type Rename = UserKey & { newClientId: string; renamedAtMs: number };

/**
 * Moves postbacks to a client's new id. The outbox comes first, in the order in which outcomes are recorded. The new id
 * can have postbacks although nobody else has it, when a replay did not bring back their user: those stay, and the same
 * ones are not moved.
 */
export async function renamePostbacks(tx: Executor, { appId, clientId, newClientId }: Rename): Promise<void> {
  const isOwn = sql`own.app_id = ${appId} and own.client_id = ${clientId} and not exists (
    select 1 from postback other where other.app_id = own.app_id and other.client_id = ${newClientId}
      and other.event_type = own.event_type and other.subject = own.subject)`;
  await execute(
    tx,
    sql`update outbox set client_id = ${newClientId} from postback own
      where ${isOwn} and outbox.app_id = own.app_id and outbox.client_id = own.client_id
        and outbox.event_type = own.event_type and outbox.subject = own.subject`,
  );
  await execute(
    tx,
    sql`with moved as (delete from postback own where ${isOwn} returning *)
      insert into postback (app_id, client_id, event_type, subject, status, back_cents, accepted_day, ad_platform, rule_id, moment,
        trace_id, at_ms, value_cents, is_passed, reason, attempts, resent, created_at_ms, changed_at_ms, made_for)
      select app_id, ${newClientId}, event_type, subject, status, back_cents, accepted_day, ad_platform, rule_id, moment,
        trace_id, at_ms, value_cents, is_passed, reason, attempts, resent, created_at_ms, changed_at_ms, made_for from moved`,
  );
}

/** A postback that people have asked to resend. */
export type ResentPostback = PostbackKey & { adPlatform: string; valueCents: number | null };

/**
 * Sets postbacks that failed or were skipped back to waiting, and returns them. One that waits or was accepted
 * meanwhile stays as it is.
 */
export async function reopenPostbacks(
  tx: Executor,
  rows: readonly ResentPostback[],
  changedAtMs: number,
): Promise<PostbackKey[]> {
  if (rows.length === 0) return [];
  const again = rowsOf("again", rows, {
    appId: "int",
    clientId: "text",
    eventType: "text",
    subject: "text",
    adPlatform: "text",
    valueCents: "bigint",
  });
  return query<PostbackKey>(
    tx,
    sql`update postback set status = ${STATUS.waiting}, reason = '', resent = postback.resent + 1, ad_platform = again.ad_platform,
        value_cents = again.value_cents, changed_at_ms = ${changedAtMs}
      from ${again}
      where postback.app_id = again.app_id and postback.client_id = again.client_id collate "C"
        and postback.event_type = again.event_type and postback.subject = again.subject collate "C" and postback.status in (${STATUS.givenUp}, ${STATUS.skipped})
      returning postback.app_id, postback.client_id, postback.event_type, postback.subject`,
  );
}
