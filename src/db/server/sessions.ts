import { randomInt } from "node:crypto";
import type pg from "pg";
import { UsageError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { within } from "../../within.ts";
import { bounded, connect, end, Server, type Sessions } from "./server.ts";

/** Connections that try to get the session of the first one. A pooler hands out the one that was returned last. */
const TAKERS_MAX = 3;
const ASK_MS_MAX = 10_000;

/**
 * Finds out what a connection to this address is. PostgreSQL tells a client the process that serves it; a pooler makes
 * up a number of its own. Behind a pooler, the session is lent if somebody else can get it, or if it has changed, while
 * we are connected but in no transaction.
 */
export async function findSessions(url: string, waitMs: number): Promise<Sessions> {
  const target = { ...(await new Server({ kind: "url", url, sessions: "own" }).target(waitMs)) };
  const open: pg.Client[] = [];
  const connected = async () => {
    const client = await connect({ ...target, connectionTimeoutMillis: waitMs });
    open.push(client);
    return client;
  };
  try {
    const first = await connected();
    const session = await sessionOf(first);
    if (session === (first as unknown as { processID: number }).processID) return "own";
    for (let taken = 0; taken < TAKERS_MAX; taken += 1) {
      const taker = await connected();
      const got = await within(
        LIMITS.connectionCheckMs,
        taker.query("begin").then(() => sessionOf(taker)),
      ).catch(() => undefined);
      // All sessions are in use. Whether the first connection still has one of them shows when it asks again.
      if (got === undefined) break;
      if (got === session) return "lent";
    }
    return (await within(LIMITS.connectionCheckMs, sessionOf(first)).catch(() => undefined)) === session
      ? "kept"
      : "lent";
  } finally {
    for (const client of open) end(client);
  }
}

async function sessionOf(client: pg.Client): Promise<number> {
  const { rows } = await bounded<{ session: number }>(client, "select pg_backend_pid() as session");
  return rows[0]!.session;
}

const NEEDS_SESSION = "the lock on apply, migrations and notifications need a session of their own";

/** Refuses an address at which nothing outlives a transaction. */
export function assertKeepsSessions(sessions: Sessions, setting: "DATABASE_URL" | "DATABASE_DIRECT_URL"): void {
  if (sessions !== "lent") return;
  throw new UsageError(
    setting === "DATABASE_URL"
      ? `DATABASE_URL leads to a pooler in transaction mode, but ${NEEDS_SESSION}: set DATABASE_DIRECT_URL to PostgreSQL itself, or to a pool in session mode. See docs/POSTGRESQL.md.`
      : `DATABASE_DIRECT_URL leads to a pooler in transaction mode too, but ${NEEDS_SESSION}: let it lead to PostgreSQL itself, or to a pool in session mode.`,
  );
}

/** Refuses two addresses that lead to different databases: a lock that one holds must show through the other. */
export async function assertSameDatabase(direct: pg.Pool, lent: pg.Pool): Promise<void> {
  const key = randomInt(2 ** 47);
  const holder = await direct.connect();
  // The statement that needs it fails anyway.
  holder.on("error", () => {});
  try {
    await holder.query("begin");
    await holder.query("select pg_advisory_xact_lock($1)", [key]);
    const { rows } = await within(ASK_MS_MAX, lent.query("select pg_try_advisory_xact_lock($1) as free", [key]));
    if (rows[0].free) throw new UsageError("DATABASE_URL and DATABASE_DIRECT_URL lead to different databases.");
  } finally {
    holder.release(true);
  }
}
