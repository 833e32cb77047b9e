import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type pg from "pg";
import { replaySetAside } from "../../admin/operation/set-aside.ts";
import { Applier } from "../../apply/applier.ts";
import { elapsedMs, systemClock } from "../../clock.ts";
import { type Config, configFromEnvironment } from "../../config.ts";
import { holderOf } from "../../data-lock.ts";
import { addAudit } from "../../db/audit-log.ts";
import { countOtherProcesses } from "../../db/engine/database.ts";
import { emptyFacts, endReplay } from "../../db/facts.ts";
import { readCursor } from "../../db/journal-cursor.ts";
import { ApplyLock } from "../../db/lock/apply-lock.ts";
import { countRequested, countSetAside, listSetAside } from "../../db/set-aside.ts";
import { UsageError } from "../../errors.ts";
import { poolDisk } from "../../journal/disk.ts";
import { decodeEntry } from "../../journal/entry.ts";
import { Journal } from "../../journal/journal.ts";
import { readId } from "../../journal/journal-id.ts";
import { beginningOf } from "../../journal/packed-body.ts";
import { fileSource, JournalReader } from "../../journal/reader.ts";
import { listSegments } from "../../journal/segment.ts";
import { Unconfirmed } from "../../journal/unconfirmed.ts";
import { LIMITS } from "../../limits.ts";
import { createLog } from "../../log.ts";
import { commandLine, deskOf } from "../desk.ts";
import { ProgressBar, parseInteger, print, tableOf } from "../output.ts";
import { assertBegun, type DatabaseSession, withDatabase, withOwnDatabase, withServer } from "../session.ts";
import { replayLosses } from "./replay-losses.ts";

type Json = { json?: boolean };
const REPLAY_MS_MAX = 600_000;
/** Bytes of a listed entry's body that are shown. */
const SHOWN_BYTES = 120;

export function journalCommands(program: Command): void {
  const journal = program.command("journal").description("The append-only log of everything acknowledged");

  journal
    .command("inspect")
    .description("Show segments, how far they are applied, and entries that were set aside")
    .option("--entries <count>", "also list this many entries", parseInteger, 0)
    .option("--from <position>", "where to begin listing", parseInteger, 0)
    .option("--json", "print JSON")
    .action((options: { entries: number; from: number } & Json) => inspect(options));

  journal
    .command("replay")
    .description("Replay entries that were set aside; with --all, rebuild every table from the journal")
    .option("--all", "empty the tables and apply the whole journal (the server must be stopped)")
    .option("--yes", "with --all: even when the journal does not hold everything that is in the tables")
    .option("--json", "print JSON")
    .action((options: { all?: boolean; yes?: boolean } & Json) =>
      options.all ? replayAll(options) : replayAside(options),
    );
}

async function inspect(options: { entries: number; from: number } & Json): Promise<void> {
  await withDatabase(async ({ config, pool }) => {
    const { dir, id } = await journalOf(config);
    const applied = await readCursor(pool, { journalId: id, partition: 0 });
    const segments = (await listSegments(dir)).map((segment) => ({
      segment: segment.path,
      from: segment.from,
      bytes: segment.bytes,
      file_bytes: segment.fileBytes,
      state:
        segment.from + segment.bytes <= applied ? "applied" : segment.from >= applied ? "waiting" : "partly applied",
      written: new Date(segment.modifiedAtMs).toISOString(),
    }));
    const setAside = (await listSetAside(pool, { limit: LIMITS.setAsideListed })).map(({ payload, ...row }) => ({
      ...row,
      bytes: payload.length,
    }));
    const entries = options.entries > 0 ? await readEntries(dir, segments, options) : [];
    const picture = { journal_id: id, applied, segments, set_aside: setAside, entries };
    print(picture, options, () =>
      [
        `Journal ${id}, applied up to ${applied}`,
        tableOf(segments),
        ...(setAside.length > 0 ? ["Set aside:", tableOf(setAside)] : []),
        ...(entries.length > 0 ? ["Entries:", tableOf(entries)] : []),
      ].join("\n\n"),
    );
  });
}

async function readEntries(
  dir: string,
  segments: readonly { from: number; bytes: number }[],
  options: { entries: number; from: number },
) {
  const first = segments[0]?.from ?? 0;
  const last = segments.at(-1);
  const until = last ? last.from + last.bytes : 0;
  const reader = new JournalReader(dir, Math.max(first, options.from));
  const rows: Record<string, unknown>[] = [];
  while (rows.length < options.entries) {
    const items = await reader.read({ until, bytesMax: 1 });
    const [item] = items;
    if (!item) break;
    if (item.kind === "damage") {
      rows.push({
        from: item.from,
        bytes: item.until - item.from,
        kind: "damage",
        app: "",
        client: "",
        received: "",
        body: "",
      });
      continue;
    }
    const entry = decodeEntry(item.payload);
    const { head } = entry;
    const shown = (await beginningOf(entry, SHOWN_BYTES)).toString("utf8");
    const received = new Date(head.at).toISOString();
    rows.push({
      from: item.from,
      bytes: item.until - item.from,
      kind: head.kind,
      app: head.app,
      client: head.client,
      received,
      body: shown,
    });
  }
  await reader.close();
  return rows;
}

async function journalOf(config: Config): Promise<{ dir: string; id: string }> {
  if (config.jetstream) throw new UsageError("This command reads a journal in files, and LOG_URL names another log.");
  const dir = join(config.dataDir, "journal");
  const id = await readId(dir);
  if (id === undefined) throw new UsageError(`There is no journal in ${config.dataDir} yet.`);
  return { dir, id };
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

/** The journal's end. Opening the journal cuts off a record that a crash left half-written. */
async function recoveredEnd(dir: string, config: Config): Promise<number> {
  const journal = await Journal.open(dir, {
    log: createLog("error"),
    disk: poolDisk,
    pendingBytesMax: config.journalPendingBytesMax,
  });
  await journal.close();
  return journal.durable;
}

async function replayAll(options: { yes?: boolean } & Json): Promise<void> {
  const config = configFromEnvironment();
  const holder = holderOf(config.dataDir);
  if (holder) throw new UsageError(`Stop the server first: process ${holder.pid} is applying the journal.`);
  assertBegun(config);
  const { dir, id } = await journalOf(config);
  const lock = new ApplyLock({ journalId: id, log: createLog("error"), clock: systemClock });
  const rebuild = async ({ pool, erasureKey }: DatabaseSession) => {
    const by = commandLine();
    await requireNoSender(pool);
    const durable = await recoveredEnd(dir, config);
    const source = fileSource({ id, dir }, () => durable);
    const losses = options.yes ? [] : await replayLosses(pool, source);
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
      details: { journal: id, bytes: durable },
    });
    await emptyFacts(pool, term);
    const bar = new ProgressBar("Replaying");
    const applier = new Applier({
      pool,
      sources: [source],
      erasureKey,
      log: createLog("error"),
      writtenBytes: source.end,
      term: () => term,
      onApplied: ({ position }) => bar.show(position, durable),
    });
    while ((await applier.turn()) === "busy");
    await applier.close();
    await endReplay(pool, { term, nowMs: systemClock() });
    // Wherever an earlier cursor was, all of this journal has been applied.
    await new Unconfirmed(dir).end();
    const setAside = await countSetAside(pool);
    print(
      { bytes: durable, set_aside: setAside },
      options,
      () => `${durable} bytes of journal applied, ${setAside} entries set aside.`,
    );
  };
  await withOwnDatabase(config, rebuild, { lock });
}

/** Requires that nobody is sending postbacks: what becomes of them meanwhile would not be recorded. */
async function requireNoSender(pool: pg.Pool): Promise<void> {
  if ((await countOtherProcesses(pool, ["postback"])) > 0)
    throw new UsageError("Stop the processes with the role postback first: they send from this database's outbox.");
}
