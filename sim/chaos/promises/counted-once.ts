import { REFUND_EVENT } from "../../../src/domain/refund.ts";
import { PROPERTIES, STORED_EVENTS } from "../../stored-events.ts";
import type { Audit } from "./audited.ts";
import { wrongTotals } from "./totals.ts";

const LEDGERS = ["ledger_minute", "touch_minute"] as const;

/** Promises 2 and 4: every entry of the journal is in the ledger once, and the ledger adds up to the tables. */
export async function countedOnce(given: Audit): Promise<void> {
  const { site, findings, durable } = given;
  const { rows: cursors } = await site.pool.query("select max(position)::float8 as position from journal_cursor");
  findings.equal(2, "the cursor", { is: cursors[0].position, should: durable });
  for (const ledger of LEDGERS) await minutesAddUp(given, ledger);
  await entriesCounted(given);
  await figuresAddUp(given);
  findings.none(2, "totals of the lists differ from their rows", await wrongTotals(site.pool));
}

async function minutesAddUp({ site, findings }: Audit, ledger: (typeof LEDGERS)[number]): Promise<void> {
  const { rows } = await site.pool.query(
    `select app_id, minute_ms, sum(events) filter (where outcome = 'received') as received,
       sum(events) filter (where outcome <> 'received') as told
     from ${ledger} group by 1, 2
     having coalesce(sum(events) filter (where outcome = 'received'), 0)
       <> coalesce(sum(events) filter (where outcome <> 'received'), 0)`,
  );
  findings.none(4, `minutes of ${ledger} do not add up`, rows);
}

/** Checks every app, including those used only by the fuzzer and the limit tests. */
async function entriesCounted({ site, findings }: Audit): Promise<void> {
  const { rows } = await site.pool.query(
    `with ledger as materialized (
       select app_id, sum(events) filter (where outcome = 'received') as received,
         sum(events) filter (where outcome = 'stored') as stored from ledger_minute group by 1),
     touched as materialized (select app_id, sum(events) as received from touch_minute where outcome = 'received' group by 1),
     there as materialized (select app_id, count(*) as rows from event group by 1)
     select app_id as app, coalesce(l.received, 0)::float8 as events, coalesce(t.received, 0)::float8 as touches,
       coalesce(l.stored, 0)::float8 as stored, coalesce(e.rows, 0)::float8 as rows
     from app left join ledger l using (app_id) left join touched t using (app_id) left join there e using (app_id)`,
  );
  for (const { app, events, touches, stored, rows: there } of rows) {
    const should = site.journal.sumsOf(app);
    findings.equal(2, `events of app ${app} in the ledger, against the journal`, { is: events, should: should.events });
    findings.equal(2, `touches of app ${app} in the ledger, against the journal`, {
      is: touches,
      should: should.touches,
    });
    // Erasing a user removes the events, while the ledger keeps its numbers.
    if (app === site.operator.app.appId)
      findings.equal(4, "events in the table, against the ledger", { is: there, should: stored });
  }
}

/** Checks the counters written in the same transaction as the events, which must agree with them. */
async function figuresAddUp({ site, findings }: Audit): Promise<void> {
  const { appId } = site.operator.app;
  const { rows } = await site.pool.query(
    `select
       (select coalesce(sum(track_events), 0) from user_day where app_id = $1)::float8 as counted,
       (select count(*) from event where app_id = $1 and type = 'track' and event <> $2)::float8 as tracked,
       (select coalesce(sum(pay_count), 0) from user_account where app_id = $1)::float8 as paid,
       (select count(*) from orders where app_id = $1)::float8 as orders,
       (select count(distinct ${PROPERTIES}->>'$order_id') from ${STORED_EVENTS} where e.app_id = $1 and e.event = '$PayEvent')::float8 as bought,
       (select coalesce(sum((properties->>'visits')::int), 0) from user_account where app_id = $1)::float8 as visits,
       (select count(*) from event where app_id = $1 and event = 'profile_increment')::float8 as increments`,
    [appId, REFUND_EVENT], // A refund is not an activity of the user, so no day counts it.
  );
  const { counted, tracked, paid, orders, bought, visits, increments } = rows[0];
  findings.equal(2, "events counted by user and day", { is: counted, should: tracked });
  findings.equal(2, "orders", { is: orders, should: bought });
  findings.equal(2, "payments counted by user", { is: paid, should: orders });
  findings.equal(2, "increments of user properties", { is: visits, should: increments });
}
