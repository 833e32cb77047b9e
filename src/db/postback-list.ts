import { POSTBACK_STATUS, type PostbackStatus } from "../domain/postback/postback.ts";
import { rowsOf } from "./engine/rows.ts";
import { allOf, type Executor, query, type Sql, sql } from "./engine/sql.ts";
import type { PostbackKey } from "./postback.ts";

export type ListedPostback = PostbackKey & {
  adPlatform: string;
  ruleId: number;
  moment: string;
  traceId: string;
  atMs: number;
  valueCents: number | null;
  status: PostbackStatus;
  reason: string;
  attempts: number;
  resent: number;
  backCents: number;
  createdAtMs: number;
  changedAtMs: number;
};

const columns = sql`app_id, client_id, event_type, subject, ad_platform, rule_id, moment, trace_id, at_ms, value_cents,
  status, reason, attempts, resent, back_cents, created_at_ms, changed_at_ms`;

/** The postbacks to find; absent fields do not restrict. */
export type PostbackFilter = {
  appId: number;
  statuses: readonly PostbackStatus[];
  adPlatform?: string | undefined;
  eventType?: string | undefined;
  clientId?: string | undefined;
  traceId?: string | undefined;
  /** Only these postbacks. */
  postbacks?: readonly Pick<PostbackKey, "clientId" | "eventType" | "subject">[] | undefined;
  /** The whole reason; a part is enough when the reason is a sentence. */
  reason?: string | undefined;
  /** When the moment happened. */
  fromMs?: number | undefined;
  untilMs?: number | undefined;
};

export const ALL_STATUSES: readonly PostbackStatus[] = Object.values(POSTBACK_STATUS);

/** Postbacks after a position, newest first. One query per status, because the index is by status. */
export async function listPostbacks(
  executor: Executor,
  filter: PostbackFilter,
  { after, limit }: { after?: PostbackPosition | undefined; limit: number },
): Promise<ListedPostback[]> {
  const found: ListedPostback[] = [];
  for (const status of filter.statuses) {
    const where = allOf([conditionOf({ ...filter, statuses: [status] }), ...(after ? [isAfter(after)] : [])]);
    found.push(
      ...(await query<ListedPostback>(
        executor,
        sql`select ${columns} from postback where ${where}
          order by created_at_ms desc, client_id, event_type collate "C", subject limit ${limit}`,
      )),
    );
  }
  return found.sort(byPosition).slice(0, limit);
}

function isAfter({ createdAtMs, clientId, eventType, subject }: PostbackPosition): Sql {
  return sql`created_at_ms <= ${createdAtMs} and (created_at_ms < ${createdAtMs}
    or (client_id, event_type collate "C", subject) > (${clientId}, ${eventType}, ${subject}))`;
}

/** The statement's order: texts by their bytes. */
function byPosition(left: PostbackPosition, right: PostbackPosition): number {
  const texts = (position: PostbackPosition) => [position.clientId, position.eventType, position.subject];
  const compared = texts(left).map((text, at) => Buffer.compare(Buffer.from(text), Buffer.from(texts(right)[at]!)));
  return right.createdAtMs - left.createdAtMs || compared.find((order) => order !== 0) || 0;
}

/** Where a page of postbacks ended. */
export type PostbackPosition = Pick<ListedPostback, "createdAtMs" | "clientId" | "eventType" | "subject">;

export const FIRST_POSITION: PostbackPosition = { createdAtMs: -1, clientId: "", eventType: "", subject: "" };

/** Postbacks to platforms, without callbacks to the app's own systems, oldest first. */
export async function pagePostbacks(
  executor: Executor,
  filter: PostbackFilter,
  { after, limit }: { after: PostbackPosition; limit: number },
): Promise<ListedPostback[]> {
  return query<ListedPostback>(
    executor,
    sql`select ${columns} from postback where ${conditionOf(filter)} and left(event_type, 1) <> '$'
        and (created_at_ms, client_id, event_type, subject)
          > (${after.createdAtMs}::bigint, ${after.clientId}, ${after.eventType}, ${after.subject})
      order by created_at_ms, client_id, event_type, subject limit ${limit}`,
  );
}

function conditionOf(filter: PostbackFilter): Sql {
  const { appId, statuses, adPlatform, eventType, clientId, traceId, postbacks, reason, fromMs, untilMs } = filter;
  return allOf([
    sql`app_id = ${appId}`,
    sql`status = any(${statuses}::int[])`,
    ...(adPlatform === undefined ? [] : [sql`ad_platform = ${adPlatform}`]),
    ...(eventType === undefined ? [] : [sql`event_type = ${eventType}`]),
    ...(clientId === undefined ? [] : [sql`client_id = ${clientId}`]),
    ...(traceId === undefined ? [] : [sql`trace_id = ${traceId}`]),
    ...(postbacks === undefined ? [] : [isAmong(postbacks)]),
    // A reason of one word is a code and must match whole: a part of it could be another code.
    ...(reason === undefined
      ? []
      : [sql`(reason = ${reason} or (position(' ' in reason) > 0 and position(${reason}::text in reason) > 0))`]),
    ...(fromMs === undefined ? [] : [sql`at_ms >= ${fromMs}`]),
    ...(untilMs === undefined ? [] : [sql`at_ms < ${untilMs}`]),
  ]);
}

function isAmong(postbacks: NonNullable<PostbackFilter["postbacks"]>): Sql {
  const clientIds = postbacks.map((one) => one.clientId);
  const among = rowsOf("among", postbacks, { clientId: "text", eventType: "text", subject: "text" });
  return sql`client_id = any(${clientIds}::text[]) and (client_id, event_type, subject) in (select * from ${among})`;
}

/** The number of postbacks with a status. */
export type PostbackCount = { status: PostbackStatus; postbacks: number };

export async function countPostbacks(
  executor: Executor,
  { appId, sinceMs }: { appId: number; sinceMs: number },
): Promise<PostbackCount[]> {
  return query<PostbackCount>(
    executor,
    sql`select status, count(*) as postbacks from postback
      where app_id = ${appId} and status = any(${ALL_STATUSES}::int[]) and created_at_ms >= ${sinceMs} group by status`,
  );
}

export type ReasonCount = PostbackCount & { adPlatform: string; reason: string };

/** Why postbacks made since an instant were not accepted, the most frequent reasons first. */
export async function countReasons(
  executor: Executor,
  { appId, sinceMs, limit }: { appId: number; sinceMs: number; limit: number },
): Promise<ReasonCount[]> {
  const statuses = ALL_STATUSES.filter((status) => status !== POSTBACK_STATUS.accepted);
  return query<ReasonCount>(
    executor,
    sql`select status, ad_platform, reason, count(*) as postbacks from postback
      where app_id = ${appId} and status = any(${statuses}::int[]) and created_at_ms >= ${sinceMs} and reason <> ''
      group by 1, 2, 3 order by count(*) desc, status desc, ad_platform, reason limit ${limit}`,
  );
}
