import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type pg from "pg";
import { replaySetAside } from "../../admin/operation/set-aside.ts";
import { Applier } from "../../apply/applier.ts";
import { elapsedMs, systemClock } from "../../clock.ts";
import { configFromEnvironment } from "../../config.ts";
import { holderOf } from "../../data-lock.ts";
import { addAudit } from "../../db/audit-log.ts";
import { countOtherProcesses } from "../../db/engine/database.ts";
import { emptyFacts, endReplay } from "../../db/facts.ts";
import { ApplyLock } from "../../db/lock/apply-lock.ts";
import { countRequested, countSetAside } from "../../db/set-aside.ts";
import { UsageError } from "../../errors.ts";
import { Unconfirmed } from "../../journal/unconfirmed.ts";
import { createLog } from "../../log.ts";
import { commandLine, deskOf } from "../desk.ts";
import { ProgressBar, parseInteger, print } from "../output.ts";
import { assertBegun, type DatabaseSession, withDatabase, withOwnDatabase, withServer } from "../session.ts";
import { findStopped } from "./journal-files.ts";
import { type InspectOptions, inspect } from "./journal-inspect.ts";
import { type MoveOptions, moveJournal } from "./journal-move.ts";
import { replayLosses } from "./replay-losses.ts";

type Json = { json?: boolean };
const REPLAY_MS_MAX = 600_000;

export function journalCommands(program: Command): void {
  const journal = program.command("journal").description("The append-only log of everything acknowledged");

  journal
    .command("inspect")
    .description("Show segments or partitions, how far they are applied, and entries that were set aside")
    .option("--entries <count>", "also list this many entries", parseInteger, 0)
    .option("--from <position>", "where to begin listing", parseInteger, 0)
    .option("--partition <number>", "the partition to list entries of, where there are several", parseInteger, 0)
    .option("--json", "print JSON")
    .action((options: InspectOptions) => inspect(options));

  journal
    .command("replay")
    .description("Replay entries that were set aside; with --all, rebuild every table from the journal")
    .option("--all", "empty the tables and apply the whole journal (the server must be stopped)")
    .option("--yes", "with --all: even when the journal does not hold everything that is in the tables")
    .option("--json", "print JSON")
    .action((options: { all?: boolean; yes?: boolean } & Json) =>
      options.all ? replayAll(options) : replayAside(options),
    );

  journal
    .command("move")
    .description(
      "Apply the journal to its end, so that the next start can use another one (the server must be stopped)",
    )
    .requiredOption("--to <place>", "files, or what LOG_URL is going to be")
    .option("--json", "print JSON")
    .action((options: MoveOptions) => moveJournal(options));
}

/** Waits until the apply role has replayed all entries, which it does between two batches. */
async function replayAside(options: Json): Promise<void> {
  await withServer(undefined, () =>
    withDatabase(async (session) => {
      const { pool } = session;
      const requested = await replaySetAside(deskOf(session), {}, "all");
      const startedMs = elapsedMs();
      while ((await countRequested(pool)) > 0) {
        if (elapsedMs() - startedMs > REPLAY_MS_MAX)
          throw new UsageError("The entries were not replayed. Is the apply role running?");
        await sleep(200);
      }
      const left = await countSetAside(pool);
      const result = { requested, replayed: requested - left, still_set_aside: left };
      print(result, options, () => `${result.replayed} of ${requested} entries replayed, ${left} still set aside.`);
    }),
  );
}

async function replayAll(options: { yes?: boolean } & Json): Promise<void> {
  const config = configFromEnvironment();
  const holder = holderOf(config.dataDir);
  if (holder) throw new UsageError(`Stop the server first: process ${holder.pid} is applying the journal.`);
  assertBegun(config);
  const journal = await findStopped(config);
  const { id } = journal;
  const lock = new ApplyLock({ journalId: id, log: createLog("error"), clock: systemClock });
  const rebuild = async ({ pool, erasureKey }: DatabaseSession) => {
    const by = commandLine();
    await requireNoSender(pool);
    const whole = await journal.open();
    const { sources, unit } = whole;
    const total = sources.reduce((sum, { end }) => sum + end(), 0);
    const losses = options.yes ? [] : await replayLosses(pool, whole);
    if (losses.length > 0)
      throw new UsageError(
        `Nothing was changed, because data would be lost. ${losses.join(" ")} To proceed anyway, add --yes.`,
      );
    const term = (await lock.claim())[0]!;
    await addAudit(pool, {
      atMs: systemClock(),
      actor: by.name,
      address: by.address,
      action: "journal/replay",
      appId: null,
      details: { journal: id, [unit]: total },
    });
    await emptyFacts(pool, term);
    const bar = new ProgressBar("Replaying");
    const done = sources.map(() => 0);
    const applier = new Applier({
      pool,
      sources,
      erasureKey,
      log: createLog("error"),
      // Nobody writes, so there is no pace to keep.
      writtenBytes: () => 0,
      term: () => term,
      onApplied: ({ partition, position }) => {
        done[partition] = position;
        bar.show(
          done.reduce((sum, one) => sum + one, 0),
          total,
        );
      },
    });
    while ((await applier.turn()) === "busy");
    await applier.close();
    await endReplay(pool, { term, nowMs: systemClock() });
    // Wherever an earlier cursor was, all of this journal has been applied.
    if (journal.files) await new Unconfirmed(journal.files.dir).end();
    const setAside = await countSetAside(pool);
    print(
      { [unit]: total, set_aside: setAside },
      options,
      () => `${total} ${unit} of journal applied, ${setAside} entries set aside.`,
    );
  };
  await withOwnDatabase(config, rebuild, { lock }).finally(() => journal.close());
}

/** Requires that nobody is sending postbacks: what becomes of them meanwhile would not be recorded. */
async function requireNoSender(pool: pg.Pool): Promise<void> {
  if ((await countOtherProcesses(pool, ["postback"])) > 0)
    throw new UsageError("Stop the processes with the role postback first: they send from this database's outbox.");
}
