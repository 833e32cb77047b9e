import { isDeepStrictEqual } from "node:util";
import { elapsedMs } from "../../../src/clock.ts";
import { messageOf } from "../../../src/errors.ts";
import { openKeys } from "../../../src/installation.ts";
import { openStreamSources, readLogShape } from "../../../src/journal/jetstream/stream-sources.ts";
import { Random } from "../../market/random.ts";
import { Findings } from "../findings.ts";
import { compareWithReplay, rowsIn } from "../promises/replay-copy.ts";
import { audit, FLAWLESS } from "./load.ts";
import type { NodesFault } from "./nodes-faults.ts";
import { NodesSite } from "./nodes-site.ts";

export type NodesOptions = {
  rounds: number;
  faults: readonly NodesFault[];
  seed: number;
  /** The log is replayed by one process after so many rounds, and after the last one. */
  replayEvery: number;
  onRound?: (outcome: NodesOutcome) => void;
  signal?: AbortSignal;
};

export type NodesOutcome = {
  number: number;
  fault: string;
  tookMs: number;
  /** Events that were acknowledged so far. */
  acknowledged: number;
  broken: string[];
};

/** Events of each app before, during and after a fault. */
const STRETCH = 60;

/** Runs round after round at an installation of several nodes, and checks after each that everything is there once. */
export async function runNodesChaos(options: NodesOptions): Promise<NodesOutcome[]> {
  const { rounds, faults, seed, replayEvery, onRound = () => {}, signal } = options;
  const random = new Random(seed, "nodes");
  const outcomes: NodesOutcome[] = [];
  const site = await NodesSite.open();
  try {
    for (let number = 1; number <= rounds && !signal?.aborted; number += 1) {
      // Every fault once before any comes again.
      const fault = faults[(number - 1) % faults.length]!;
      const startedMs = elapsedMs();
      const isReplayed = number === rounds || number % replayEvery === 0;
      const broken = await roundOf(site, fault, { random, isReplayed }).catch((error) => [messageOf(error)]);
      const acknowledged = site.loads.reduce((sum, load) => sum + load.acknowledged.size, 0);
      const outcome = { number, fault: fault.name, tookMs: elapsedMs() - startedMs, acknowledged, broken };
      outcomes.push(outcome);
      onRound(outcome);
      if (broken.length > 0) break;
    }
  } finally {
    await site.remove();
  }
  return outcomes;
}

async function roundOf(
  site: NodesSite,
  fault: NodesFault,
  { random, isReplayed }: { random: Random; isReplayed: boolean },
): Promise<string[]> {
  const { loads } = site;
  const pause = () => Promise.all(loads.map((load) => load.pause()));
  const begin = () => {
    for (const load of loads) load.begin(...site.urls);
  };
  const more = () => Promise.all(loads.map((load) => load.reach(load.acknowledged.size + STRETCH)));
  try {
    begin();
    await more();
    await fault.inflict(site, random);
    const ended = site.nodes.find(({ end }) => end !== undefined);
    if (ended) throw new Error(ended.end);
    // A node that has started again has another port.
    await pause();
    begin();
    await more();
  } finally {
    await pause();
  }
  await Promise.all(loads.map((load) => load.finish(...site.urls)));
  await site.settle();
  const ended = site.nodes.flatMap(({ end }) => end ?? []);
  return [...ended, ...(await audited(site)), ...(isReplayed ? await replayed(site) : [])];
}

async function audited(site: NodesSite): Promise<string[]> {
  const broken: string[] = [];
  for (const [index, load] of site.loads.entries()) {
    const found = await audit(site.pool, site.apps[index]!, load);
    for (const [what, should] of Object.entries(FLAWLESS)) {
      const is = found[what as keyof typeof FLAWLESS];
      if (!isDeepStrictEqual(is, should)) broken.push(`${what}: ${JSON.stringify(is)}`);
    }
  }
  const { rows } = await site.pool.query(
    `select app_id, client_id, u.pay_cents, o.cents, d.cents as of_days from user_account u
      left join (select app_id, client_id, sum(cents) as cents from orders group by 1, 2) o using (app_id, client_id)
      left join (select app_id, client_id, sum(pay_cents) as cents from user_day group by 1, 2) d using (app_id, client_id)
      where (u.pay_cents, u.pay_cents) is distinct from (coalesce(o.cents, 0), coalesce(d.cents, 0)) limit 3`,
  );
  return rows.length === 0 ? broken : [...broken, `payments that do not add up: ${JSON.stringify(rows)}`];
}

/** Whoever applied which partition: one process that applies all of them gives the same tables. */
async function replayed(site: NodesSite): Promise<string[]> {
  const { pool, logAddress: address } = site;
  const { id, partitions } = await readLogShape(address);
  const { rows } = await pool.query("select partition, position::float8 from journal_cursor where journal_id = $1", [
    id,
  ]);
  const ends = new Map<number, number>(rows.map(({ partition, position }) => [partition, position]));
  const opened = await openStreamSources({ address, id, partitions }, (partition) => ends.get(partition) ?? 0);
  const findings = new Findings();
  try {
    const { erasureKey } = await openKeys(pool, { dataDir: "", secretKey: site.secretKey }, "existing");
    const openPool = (name: string) => site.openPool(name);
    const rowsOf = async (table: string) => rowsIn(table);
    await compareWithReplay({ pool, openPool, sources: opened.sources, erasureKey, rowsOf }, findings);
  } finally {
    await opened.close();
  }
  return findings.violations.map(({ text }) => text);
}
