import type pg from "pg";
import { Applier } from "../../apply/applier.ts";
import { systemClock } from "../../clock.ts";
import { type Config, configFromEnvironment } from "../../config.ts";
import { holderOf } from "../../data-lock.ts";
import { addAudit } from "../../db/audit-log.ts";
import { readCursors } from "../../db/journal-cursor.ts";
import { ApplyLock } from "../../db/lock/apply-lock.ts";
import { ApiError, messageOf, UsageError } from "../../errors.ts";
import { assertNotOlder, openJournal } from "../../intake/open-journal.ts";
import { endsOf } from "../../journal/entry-log.ts";
import { type JetStreamAddress, readJetStreamAddress } from "../../journal/jetstream/address.ts";
import { withColdReader } from "../../lake/cold-reader.ts";
import { createLog } from "../../log.ts";
import { commandLine } from "../desk.ts";
import { ProgressBar, print } from "../output.ts";
import { assertBegun, type DatabaseSession, withOwnDatabase } from "../session.ts";
import { findStopped } from "./journal-files.ts";
import type { WholeJournal } from "./replay-losses.ts";

export type MoveOptions = { to: string; json?: boolean };

const log = createLog("error");

/**
 * Leaves the journal that the settings name, so that the next start can use another one. Nothing is copied: the entries
 * that wait are applied, and an applied journal can be left.
 *
 *   open the other one, which must be usable ─▶ apply this one to its end ─▶ say which setting to change
 */
export async function moveJournal(options: MoveOptions): Promise<void> {
  const config = configFromEnvironment();
  const holder = holderOf(config.dataDir);
  if (holder) throw new UsageError(`Stop the server first: process ${holder.pid} is writing the journal.`);
  assertBegun(config);
  const target = targetOf(options.to);
  if (target === undefined && !config.jetstream) throw new UsageError("The journal is in files already.");
  const journal = await findStopped(config);
  const lock = new ApplyLock({ journalId: journal.id, log, clock: systemClock });
  const move = async (session: DatabaseSession) => {
    const { pool } = session;
    if (target) await assertFree(pool, { ...config, jetstream: target }, journal.id);
    const whole = await journal.open();
    await applyToEnd(session, { whole, lock });
    // A process that has lost the database may still collect into a log.
    if (totalOf(await journal.open()) > totalOf(whole))
      throw new UsageError("Entries were appended meanwhile: a process still collects. Stop it, and try again.");
    await noteMove(pool, { from: journal.id, to: target?.name ?? "files" });
    const setting = target ? "Set LOG_URL to it" : "Remove LOG_URL";
    print(
      { journal: journal.id, [whole.unit]: totalOf(whole) },
      options,
      () => `The journal ${journal.id} is applied to its end. ${setting}, and start the server.`,
    );
  };
  await withOwnDatabase(config, move, { lock }).finally(() => journal.close());
}

function totalOf({ sources }: WholeJournal): number {
  return sources.reduce((sum, { end }) => sum + end(), 0);
}

/** Undefined: files. */
function targetOf(to: string): JetStreamAddress | undefined {
  if (to === "files") return undefined;
  try {
    return readJetStreamAddress(to);
  } catch (error) {
    throw new UsageError(`--to must be files, or what LOG_URL is going to be, which ${messageOf(error)}`);
  }
}

/** Opens the log as a start would, and makes it if it is new. It must not be that of another installation. */
async function assertFree(pool: pg.Pool, config: Config, present: string): Promise<void> {
  const { journal } = await openJournal(config, {
    log,
    overShare: () => new ApiError("overloaded", "The command writes nothing."),
    onAppended: () => {},
    onGrown: () => {},
  });
  await journal.close();
  if (journal.id === present) throw new UsageError("The journal is in this log already.");
  const cursors = await readCursors(pool, journal.id);
  assertNotOlder(journal, cursors);
  if (cursors.length === 0 && endsOf(journal).some((end) => end > 0))
    throw new UsageError("The log has entries of another installation: name another one, after the last / of the URL.");
}

async function applyToEnd(
  { config, pool, erasureKey }: DatabaseSession,
  { whole, lock }: { whole: WholeJournal; lock: ApplyLock },
): Promise<void> {
  const { id, unit, sources } = whole;
  const total = totalOf(whole);
  const bar = new ProgressBar("Applying");
  const cursors = async () => {
    const found = await readCursors(pool, id);
    return sources.map((_, partition) => found[partition] ?? 0);
  };
  const done = await cursors();
  const sumOf = (positions: readonly number[]) => positions.reduce((sum, position) => sum + position, 0);
  const [term] = await lock.claim();
  await withColdReader(config, async (cold) => {
    const applier = new Applier({
      pool,
      sources,
      erasureKey,
      cold,
      log,
      writtenBytes: () => 0,
      term: () => term,
      onApplied: ({ partition, position }) => {
        done[partition] = position;
        bar.show(sumOf(done), total);
      },
    });
    while ((await applier.turn()) === "busy");
    await applier.close();
  });
  const left = total - sumOf(await cursors());
  if (left > 0) throw new UsageError(`${left} ${unit} of the journal are not applied: stay with it, and try again.`);
}

async function noteMove(pool: pg.Pool, details: { from: string; to: string }): Promise<void> {
  const by = commandLine();
  await addAudit(pool, {
    atMs: systemClock(),
    actor: by.name,
    address: by.address,
    action: "journal/move",
    appId: null,
    details,
  });
}
