import { PROPERTIES, STORED_EVENTS } from "../stored-events.ts";
import { FLOOD_CLICK } from "./attacks/floods/one-address.ts";
import type { Book } from "./book.ts";
import type { Stage } from "./stage.ts";

/** The tables compared with the answers that the ordinary clients got. */
export type Audit = {
  calls: number;
  acknowledged: number;
  events: number;
  lost: string[];
  doubled: string[];
  /** Rows of the app under ordinary load that its clients never sent. */
  foreign: string[];
  /** Answers that no ordinary client should get. */
  refusals: Record<string, number>;
  /** Minutes of any app in which received differs from stored + duplicate + rejected. */
  minutesOff: number;
  setAside: string[];
};

const SHOWN = 5;

type Found = { name: string; times: number };
type Kept = { what: string; sent: ReadonlySet<string>; acknowledged: Iterable<string>; found: readonly Found[] };

export async function audit(stage: Stage, book: Book): Promise<Audit> {
  const of = (statement: string): Promise<Found[]> => foundBy(stage, statement);
  const kept: Kept[] = [
    {
      what: "event",
      sent: book.sentEvents,
      acknowledged: book.events,
      found: await of(
        `select ${PROPERTIES}->>'serial' as name, count(*)::int as times from ${STORED_EVENTS} where e.app_id = $1 group by 1`,
      ),
    },
    {
      what: "user",
      sent: book.sentUsers,
      acknowledged: book.users,
      found: await of("select client_id as name, 1 as times from user_account where app_id = $1 and is_registered"),
    },
    {
      what: "order",
      sent: book.sentOrders,
      acknowledged: book.orders.keys(),
      found: await of("select trace_id as name, count(*)::int as times from orders where app_id = $1 group by 1"),
    },
    { what: "click", sent: book.sentClicks, acknowledged: book.clicks, found: await clicksOf(stage) },
  ];
  const named = (texts: readonly string[]) => [
    ...texts.slice(0, SHOWN),
    ...(texts.length > SHOWN ? [`and ${texts.length - SHOWN} more`] : []),
  ];
  const amounts = await wrongAmounts(stage, book);
  return {
    calls: book.calls,
    acknowledged: book.acknowledged,
    events: book.events.size,
    lost: named([...kept.flatMap(lostOf), ...amounts]),
    doubled: named(
      kept.flatMap(({ what, found }) => found.filter(({ times }) => times > 1).map(({ name }) => `${what} ${name}`)),
    ),
    foreign: named(
      kept.flatMap(({ what, sent, found }) =>
        found.filter(({ name }) => !sent.has(name)).map(({ name }) => `${what} ${name}`),
      ),
    ),
    refusals: Object.fromEntries(book.refusals),
    minutesOff: await minutesOff(stage),
    setAside: named(await setAside(stage)),
  };
}

function lostOf({ what, acknowledged, found }: Kept): string[] {
  const names = new Set(found.map(({ name }) => name));
  return [...acknowledged].filter((name) => !names.has(name)).map((name) => `${what} ${name}`);
}

async function foundBy({ pool, victim }: Stage, statement: string): Promise<Found[]> {
  return (await pool.query(statement, [victim.appId])).rows;
}

/** Anyone can call a link for any app, so clicks made by an attack are recognised by their ids. */
async function clicksOf(stage: Stage): Promise<Found[]> {
  const rows = await foundBy(
    stage,
    "select coalesce(details->>'click_id', details::text) as name, count(*)::int as times from touch where app_id = $1 group by 1",
  );
  return rows.filter(({ name }) => !name.includes(FLOOD_CLICK));
}

async function wrongAmounts({ pool, victim }: Stage, book: Book): Promise<string[]> {
  const { rows } = await pool.query("select trace_id, cents::float8 as cents from orders where app_id = $1", [
    victim.appId,
  ]);
  return rows
    .filter(({ trace_id, cents }) => book.orders.has(trace_id) && book.orders.get(trace_id) !== cents)
    .map(({ trace_id, cents }) => `order ${trace_id} has ${cents} cents instead of ${book.orders.get(trace_id)}`);
}

async function minutesOff({ pool }: Stage): Promise<number> {
  const { rows } = await pool.query(
    `select count(*)::int as count from (
       select 1 from (select * from ledger_minute union all select * from touch_minute) l group by app_id, minute_ms
       having sum(case when outcome = 'received' then events else -events end) <> 0) off`,
  );
  return rows[0].count;
}

async function setAside({ pool }: Stage): Promise<string[]> {
  const { rows } = await pool.query("select reason, count(*)::int as count from set_aside group by 1");
  return rows.map(({ reason, count }) => `${count} × ${reason}`);
}
