import { LIMITS } from "../limits.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, identifier, listed, query, type Sql, sql } from "./engine/sql.ts";
import type { NewPostback, PostbackKey, Rename } from "./postback.ts";
import { type SettledPostback, showSettled } from "./postback-outcome.ts";
import { STATUS } from "./postback-status.ts";

/*
 * A replay makes every postback again, but what has become of it must stay: nothing is sent twice. So the postbacks of
 * the first run wait here until the replay makes them again, and what it does not make again returns at its end.
 *
 * The key of a postback is not enough to know it again, because a client can be renamed and another one can get its
 * old id. Here each postback begins with the id that it was made for, and follows its client from rename to rename.
 */

/** How far the clock may have been set back between two entries. */
const CLOCK_STEP_MS = 60_000;

/** All columns of a postback but its client's id. */
const COLUMN_NAMES = [
  ...["event_type", "subject", "status", "back_cents", "accepted_day", "ad_platform", "rule_id", "moment", "trace_id"],
  ...[
    "at_ms",
    "value_cents",
    "is_passed",
    "reason",
    "attempts",
    "resent",
    "created_at_ms",
    "changed_at_ms",
    "made_for",
  ],
];
const COLUMNS = listed(COLUMN_NAMES.map(identifier));

/**
 * Clears the tables of postbacks before a replay. Those that were skipped and never attempted are not kept: the replay
 * judges them anew. What an interrupted replay has left here stays.
 */
export async function keepEarlierPostbacks(tx: Executor): Promise<void> {
  await execute(tx, sql`update earlier_postback set client_id = made_for where client_id <> made_for`);
  await execute(
    tx,
    sql`with message as (delete from outbox returning *), gone as (delete from postback returning *)
      insert into earlier_postback (app_id, client_id, ${COLUMNS}, outbox)
      select gone.app_id, gone.made_for, ${listed(COLUMN_NAMES.map((name) => sql`gone.${identifier(name)}`))}, to_jsonb(message)
      from gone left join message on ${isSame(sql`message`, sql`gone`)}
      where gone.status <> ${STATUS.skipped} or gone.attempts > 0 or gone.resent > 0`,
  );
}

/** Those made after the rename belong to another client that got the old id. */
export async function renameEarlierPostbacks(
  tx: Executor,
  { appId, clientId, newClientId, renamedAtMs }: Rename,
): Promise<void> {
  await execute(
    tx,
    sql`update earlier_postback set client_id = ${newClientId}
      where app_id = ${appId} and client_id = ${clientId} and created_at_ms <= ${renamedAtMs + CLOCK_STEP_MS}`,
  );
}

/**
 * Brings back the earlier postbacks with the keys of new ones, before those are stored. `untilMs`: when the batch's last
 * entry was received; what was made later may belong to a client that gets the id afterwards.
 */
export async function restoreEarlierPostbacks(
  tx: Executor,
  rows: readonly NewPostback[],
  untilMs: number,
): Promise<void> {
  if (rows.length === 0) return;
  const fresh = rowsOf("new", rows, {
    appId: "int",
    clientId: "text",
    eventType: "text",
    subject: "text",
    createdAtMs: "bigint",
  });
  // A client has one of each key, unless the clock was set back at a rename.
  const found = await query<Earlier>(
    tx,
    sql`select distinct on (new.app_id, new.client_id, new.event_type, new.subject) new.app_id, earlier_id from ${fresh}
      join earlier_postback e on ${isSame(sql`e`, sql`new`)} and e.created_at_ms <= greatest(new.created_at_ms, ${untilMs}::bigint)
      order by new.app_id, new.client_id, new.event_type, new.subject, abs(e.created_at_ms - new.created_at_ms), earlier_id`,
  );
  await restore(tx, found, untilMs);
}

/**
 * Brings back, at the end of a replay, what it has not made again, such as the postbacks of a rule that was removed. Of
 * clients that had the same id one after the other only one can have a postback back; those of the others stay here.
 */
export async function restoreOtherPostbacks(tx: Executor, nowMs: number): Promise<void> {
  for (;;) {
    const rest = await query<Earlier>(
      tx,
      sql`select distinct on (e.app_id, e.client_id, e.event_type, e.subject) e.app_id, e.earlier_id
        from earlier_postback e left join postback p on ${isSame(sql`p`, sql`e`)}
        where p.app_id is null or (p.attempts = 0 and e.attempts > 0)
        order by e.app_id, e.client_id, e.event_type, e.subject, e.attempts desc, e.earlier_id
        limit ${LIMITS.postbacksAtOnce}`,
    );
    if (rest.length === 0) return;
    await restore(tx, rest, nowMs);
  }
}

type Earlier = { appId: number; earlierId: number };

/** Restores earlier postbacks, of which no two have the same key. */
async function restore(tx: Executor, earlier: readonly Earlier[], nowMs: number): Promise<void> {
  if (earlier.length === 0) return;
  const taken = rowsOf("taken", earlier, { appId: "int", earlierId: "bigint" });
  const isTaken = sql`e.app_id = taken.app_id and e.earlier_id = taken.earlier_id`;
  await removeUnsent(tx, sql`(select e.* from earlier_postback e join ${taken} on ${isTaken} where e.attempts > 0) e`);
  const restored = await query<PostbackKey>(
    tx,
    sql`insert into postback (app_id, client_id, ${COLUMNS})
      select e.app_id, client_id, ${COLUMNS} from earlier_postback e join ${taken} on ${isTaken}
      on conflict (app_id, client_id, event_type, subject) do nothing
      returning app_id, client_id, event_type, subject`,
  );
  const back = rowsOf("back", restored, { appId: "int", clientId: "text", eventType: "text", subject: "text" });
  await execute(
    tx,
    sql`insert into outbox (outbox_id, app_id, client_id, event_type, subject, lane, due_at_ms, attempts, in_flight, content)
      select message.outbox_id, e.app_id, e.client_id, e.event_type, e.subject, message.lane, message.due_at_ms,
        message.attempts, message.in_flight, message.content
      from earlier_postback e join ${taken} on ${isTaken} join ${back} on ${isSame(sql`e`, sql`back`)},
        jsonb_populate_record(null::outbox, e.outbox) message
      where e.outbox is not null`,
  );
  await execute(tx, sql`delete from earlier_postback e using ${taken} where ${isTaken}`);
  const settled = await query<SettledPostback>(
    tx,
    sql`select p.app_id, p.client_id, p.trace_id, p.status, p.accepted_day,
        case when p.ad_platform <> '' then u.cohort_day end as cohort_day
      from ${back} join postback p on ${isSame(sql`p`, sql`back`)}
      left join user_account u on u.app_id = p.app_id and u.client_id = p.client_id`,
  );
  await showSettled(tx, settled, nowMs);
}

/** Removes postbacks of the replay in favour of earlier ones that were attempted. */
async function removeUnsent(tx: Executor, attempted: Sql): Promise<void> {
  await execute(tx, sql`delete from outbox o using ${attempted} where ${isSame(sql`o`, sql`e`)} and o.attempts = 0`);
  await execute(
    tx,
    sql`delete from postback p using ${attempted} where ${isSame(sql`p`, sql`e`)} and p.attempts = 0
      and not exists (select 1 from outbox o where ${isSame(sql`o`, sql`p`)})`,
  );
}

/** Whether two rows have the same key. Values that come with a statement need the collation of the columns. */
function isSame(left: Sql, right: Sql): Sql {
  return sql`${left}.app_id = ${right}.app_id and ${left}.client_id = ${right}.client_id collate "C"
    and ${left}.event_type = ${right}.event_type and ${left}.subject = ${right}.subject collate "C"`;
}
