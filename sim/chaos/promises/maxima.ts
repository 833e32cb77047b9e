import { readdirSync } from "node:fs";
import { LIMITS } from "../../../src/limits.ts";
import { SETTINGS } from "../../../src/settings.ts";
import { figuresOf } from "../site.ts";
import type { Audit } from "./audited.ts";

export const MEMORY_BYTES_MAX = 900 * 1024 * 1024;
export const FILES_MAX = 1_000;

/**
 * The limits set in the code: see db/engine/database.ts, db/lock/apply-lock.ts, apply/worker.ts, postback/postback-loop.ts,
 * cost/cost-loop.ts, lake/lake-loop.ts and lake/bucket/push-loop.ts.
 */
const CONNECTIONS_MAX: Readonly<Record<string, number>> = {
  "touchpoint http": 2 * Number(SETTINGS.DATABASE_CONNECTIONS_MAX.fallback),
  // Two pools in each of two processes.
  "touchpoint report": 4 * 4,
  "touchpoint apply": 2,
  "touchpoint apply lock": 1,
  "touchpoint postback": 4,
  "touchpoint send": 1,
  "touchpoint cost": 2 * (2 * LIMITS.costPullsAtOnce + 1),
  // With the session that holds the duty.
  "touchpoint lake": 2 * (3 + 1),
  "touchpoint bucket": 2 * 2,
};

/** Promise 8, as seen from outside: memory, queues, open files, connections to the database. */
export async function maxima({ site, findings }: Audit): Promise<void> {
  for (const [name, server] of Object.entries({ server: site.server, worker: site.worker })) {
    const figures = await figuresOf(server.url);
    const memory = figures.get("touchpoint_resident_memory_bytes") ?? 0;
    findings.hold(8, memory > 0 && memory < MEMORY_BYTES_MAX, `the ${name} has ${memory} bytes of memory`);
    const waiting = figures.get("touchpoint_journal_waiting_bytes") ?? -1;
    findings.equal(8, `bytes that wait in the ${name} though nothing is sent`, { is: waiting, should: 0 });
    const files = openFiles(server.pid);
    if (files !== undefined) findings.hold(8, files < FILES_MAX, `the ${name} has ${files} open files`);
    findings.hold(8, !/not handled|"level":"fatal"/.test(server.output), `the ${name} has failed:\n${server.output}`);
  }
  const { rows } = await site.pool.query(
    // Some names end with the id of their process's folder.
    `select regexp_replace(application_name, ' [0-9a-f-]{36}$', '') as name, count(*)::int as count from pg_stat_activity
      where application_name like 'touchpoint %' and datname = current_database() group by 1`,
  );
  findings.none(
    8,
    "pools have more connections than they may",
    rows.filter(({ name, count }) => count > (CONNECTIONS_MAX[name] ?? 0)),
  );
}

/** The number of open files, if the system tells. */
export function openFiles(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return undefined;
  }
}
