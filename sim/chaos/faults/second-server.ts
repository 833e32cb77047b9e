import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { APPLY_LOCK_KEY } from "../../../src/db/lock/lock-session.ts";
import type { Fault, Trouble } from "../fault.ts";
import { ServerChild } from "../server-child.ts";
import type { Site } from "../site.ts";
import { until } from "../until.ts";
import { getsStuck, goesOn } from "./altered.ts";

const EVENTS = 60;
const REFUSED = /Another process applies into this database already: process (\d+) /;

/** All ways in which a second server can come to the same database: with its own journal, or with a copy of ours. */
const secondServer: Fault = {
  name: "second_server",
  what: "a second server starts on the same database, and one on a copy of DATA_DIR: both are refused, and the first goes on",
  kind: "other",
  at: "external",
  async inflict(trouble) {
    await isRefused(trouble, "own", async () => {});
    await isRefused(trouble, "copied", (dataDir) =>
      cp(join(trouble.site.dataDir, "journal"), join(dataDir, "journal"), { recursive: true }),
    );
  },
  mend: goesOn,
};

async function isRefused(
  { site, findings }: Trouble,
  journal: "own" | "copied",
  fill: (dataDir: string) => Promise<void>,
): Promise<void> {
  const dataDir = join(site.dataDir, "..", "second-server");
  mkdirSync(dataDir, { mode: 0o711 });
  copyFileSync(join(site.dataDir, "secret.key"), join(dataDir, "secret.key"));
  await fill(dataDir);
  const second = ServerChild.launch({ env: { ...site.serverEnv(), PORT: "0", DATA_DIR: dataDir } });
  try {
    await site.flows(EVENTS);
    await until("the second server has given up", () => !second.isRunning);
    const [, holder] = REFUSED.exec(second.output) ?? [];
    findings.equal(2, `who refuses a second server, whose journal is ${journal}`, {
      is: Number(holder),
      should: site.server.pid,
    });
  } finally {
    await second.kill();
    rmSync(dataDir, { recursive: true });
  }
}

/** Sessions that hold the lock instead of the server. */
const takers = new WeakMap<Site, pg.Client>();

const lockTaken: Fault = {
  name: "lock_taken",
  what: "the database ends the connection that holds the lock of apply, and somebody else takes the lock for a while",
  kind: "other",
  at: "external",
  inflict: (trouble) => getsStuck(trouble, () => takeLock(trouble.site)),
  async mend(trouble) {
    await takers.get(trouble.site)?.end();
    await goesOn(trouble);
  },
};

async function takeLock(site: Site): Promise<void> {
  const taker = new pg.Client(site.pool.options);
  takers.set(site, taker);
  taker.on("error", () => {});
  await taker.connect();
  // The query waits in line, so it gets the lock at the moment at which the server loses it.
  const taken = taker.query("select pg_advisory_lock($1)", [APPLY_LOCK_KEY]);
  await until("somebody waits for the lock", async () => {
    const { rows } = await site.pool.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
    return rows.length > 0;
  });
  await site.pool.query("select pg_terminate_backend(backend_id) from apply_holder");
  await taken;
}

export const SECOND_SERVER_FAULTS: readonly Fault[] = [secondServer, lockTaken];
