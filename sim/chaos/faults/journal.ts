import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  readSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { RECORD_HEADER_BYTES } from "../../../src/journal/record.ts";
import { listSegments, type Segment, segmentPath } from "../../../src/journal/segment.ts";
import type { Random } from "../../market/random.ts";
import type { Fault, Trouble } from "../fault.ts";
import type { BookedRecord } from "../journal-book.ts";

const BACKLOG_EVENTS = { short: 40, long: 150 };
const HITS_MAX = 6;

/**
 * Lets the journal grow while no process applies it, and kills the server once every client has its answer: records after
 * the cursor are acknowledged, and exist only in the journal.
 */
async function growBacklog({ site, form }: Trouble): Promise<BookedRecord[]> {
  await site.server.kill();
  await site.startServer({ env: { ROLES: "http" } });
  await site.flows(BACKLOG_EVENTS[form]);
  await site.live.pause();
  const { applied, durable } = await site.progress();
  await site.server.kill();
  return site.journal.recordsFrom(applied, durable);
}

/** Retires people whose registration was destroyed: real clients would register again, those of this market leave. */
async function mend({ site }: Trouble): Promise<void> {
  const gone = site.truth.people.map(({ clientId }) => clientId).filter((one) => site.journal.isUnregistered(one));
  site.live.retire(new Set(gone));
  await site.startServer();
  site.live.resume();
}

const corrupt: Fault = {
  name: "journal_corrupt",
  what: "some records of the journal are damaged: their beginning, their length, or a byte in them",
  kind: "other",
  at: "embedded",
  async inflict(trouble) {
    const { site, random } = trouble;
    const records = await growBacklog(trouble);
    // Damage at the very end would be a torn tail, which is another fault.
    const hits = pickSome(records.slice(0, -1), random);
    for (const hit of hits) damage(await segmentOf(trouble, hit.from), hit, random);
    await site.journal.strike(hits, hits);
  },
  mend,
};

const cut: Fault = {
  name: "journal_cut",
  what: "the journal ends too early: its last records are cut off, one of them in the middle",
  kind: "other",
  at: "embedded",
  async inflict(trouble) {
    const { site, random } = trouble;
    const records = await growBacklog(trouble);
    const first = records.length - random.whole(1, Math.min(HITS_MAX, records.length));
    const hits = records.slice(first);
    const segment = await segmentOf(trouble, hits[0]!.from);
    const left = random.whole(1, hits[0]!.until - hits[0]!.from - 1);
    truncateSync(segment.path, hits[0]!.from - segment.from + left);
    await site.journal.strike(hits, []);
  },
  async mend(trouble) {
    await mend(trouble);
    isLoud(trouble, /torn tail/);
  },
};

const tear: Fault = {
  name: "journal_tear",
  what: "a record that was never acknowledged lies half-written at the end of the journal",
  kind: "other",
  at: "embedded",
  async inflict(trouble) {
    const { random } = trouble;
    const records = await growBacklog(trouble);
    const { from, until } = random.pick(records);
    const segment = await segmentOf(trouble, from);
    const bytes = readFileSync(segment.path).subarray(from - segment.from, until - segment.from);
    const last = await segmentOf(trouble, records.at(-1)!.from);
    appendFileSync(last.path, bytes.subarray(0, random.whole(1, bytes.length - 1)));
  },
  async mend(trouble) {
    await mend(trouble);
    isLoud(trouble, /torn tail/);
  },
};

const hole: Fault = {
  name: "journal_hole",
  what: "a segment in the middle of the journal is shorter than it was",
  kind: "other",
  at: "embedded",
  async inflict(trouble) {
    const { site, random } = trouble;
    const records = await growBacklog(trouble);
    const hit = random.pick(records.slice(0, -1));
    const segment = await segmentOf(trouble, hit.from);
    const bytes = readFileSync(segment.path);
    // A record knows its own position, so a segment can be split between two records.
    writeFileSync(segmentPath(journalOf(trouble), hit.until), bytes.subarray(hit.until - segment.from), {
      mode: 0o600,
    });
    truncateSync(segment.path, hit.from - segment.from + random.whole(0, hit.until - hit.from - 1));
    await site.journal.strike([hit], [hit]);
  },
  async mend(trouble) {
    await mend(trouble);
    isLoud(trouble, /has a hole/);
  },
};

function isLoud({ site, findings }: Trouble, words: RegExp): void {
  findings.hold(7, words.test(site.server.output), `the log says nothing of it:\n${site.server.output}`);
}

const journalOf = ({ site }: Trouble) => join(site.dataDir, "journal");

async function segmentOf(trouble: Trouble, position: number): Promise<Segment> {
  const segments = await listSegments(journalOf(trouble));
  return segments.findLast(({ from }) => from <= position)!;
}

function pickSome(records: readonly BookedRecord[], random: Random): BookedRecord[] {
  const wanted = random.whole(1, Math.min(HITS_MAX, records.length));
  const hits = new Set<BookedRecord>();
  while (hits.size < wanted) hits.add(random.pick(records));
  return [...hits];
}

/** Damages a record in one of several ways: its first bytes, its length, or a single bit. */
function damage({ path, from: start }: Segment, { from, until }: BookedRecord, random: Random): void {
  const file = openSync(path, "r+");
  const at = from - start;
  const damaged = random.whole(0, 2);
  if (damaged === 0) writeSync(file, Buffer.from("XXXX"), 0, 4, at);
  else if (damaged === 1) writeSync(file, Buffer.from([0xff, 0xff, 0xff, 0x7f]), 0, 4, at + 4);
  else {
    const offset = at + random.whole(RECORD_HEADER_BYTES, until - from - 1);
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, offset);
    byte[0]! ^= 1 << random.whole(0, 7);
    writeSync(file, byte, 0, 1, offset);
  }
  closeSync(file);
}

export const JOURNAL_FAULTS: readonly Fault[] = [corrupt, cut, tear, hole];
