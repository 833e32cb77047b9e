import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, Trouble } from "../fault.ts";
import type { Site } from "../site.ts";
import { until } from "../until.ts";

const EVENTS = 60;
const STUCK_MS = { short: 1_000, long: 10_000 };
const PATIENCE_MS = 240_000;

/** Alters the database, then checks that apply says it is stuck, nothing is set aside and collection goes on. */
export async function getsStuck({ site, findings, form }: Trouble, alter: () => Promise<unknown>): Promise<void> {
  const before = await setAside(site);
  await alter();
  const isStuck = async () => (await site.figures()).get("touchpoint_apply_stuck") === 1;
  await until("apply says that it is stuck", isStuck, { waitMs: PATIENCE_MS });
  await Promise.all([sleep(STUCK_MS[form]), site.flows(EVENTS)]);
  findings.equal(7, "entries set aside though only the database was at fault", {
    is: await setAside(site),
    should: before,
  });
}

async function setAside({ pool }: Site): Promise<number> {
  return (await pool.query("select count(*)::int as count from set_aside")).rows[0].count;
}

export async function goesOn({ site }: Trouble): Promise<void> {
  const { durable } = await site.progress();
  const isApplied = async () => (await site.progress()).applied >= durable;
  await until("apply goes on by itself", isApplied, { waitMs: PATIENCE_MS });
}

const TABLE = "orders";

const gone: Fault = {
  name: "table_gone",
  what: "a table that apply writes is renamed while events go on coming in, and gets its name back",
  kind: "other",
  at: "external",
  inflict: (trouble) =>
    getsStuck(trouble, () => trouble.site.pool.query(`alter table ${TABLE} rename to ${TABLE}_away`)),
  async mend(trouble) {
    await trouble.site.pool.query(`alter table ${TABLE}_away rename to ${TABLE}`);
    await goesOn(trouble);
  },
};

const readOnly: Fault = {
  name: "read_only",
  what: "the database turns read-only, as a standby is or a cluster that runs out of transaction ids, and writable again",
  kind: "other",
  at: "external",
  inflict: (trouble) => getsStuck(trouble, () => setReadOnly(trouble.site, "on")),
  async mend(trouble) {
    await setReadOnly(trouble.site, "off");
    await goesOn(trouble);
  },
};

/** A setting of the database applies to new connections only, so the open ones are ended. */
async function setReadOnly({ pool }: Site, value: "on" | "off"): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("set default_transaction_read_only = off");
    const { rows } = await client.query("select current_database() as name");
    await client.query(`alter database ${rows[0].name} set default_transaction_read_only = ${value}`);
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'touchpoint %'",
    );
  } finally {
    // Closing the connection discards its own setting.
    client.release(true);
  }
}

export const ALTERED_FAULTS: readonly Fault[] = [gone, readOnly];
