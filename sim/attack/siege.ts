import { setTimeout as sleep } from "node:timers/promises";
import { settle } from "../../src/cli/operation/settle-command.ts";
import { elapsedMs } from "../../src/clock.ts";
import { messageOf } from "../../src/errors.ts";
import type { Attack, AttackReport } from "./attack.ts";
import { Attackers } from "./attackers.ts";
import { type Audit, audit } from "./audit.ts";
import { type CallKind, OrdinaryClients } from "./ordinary.ts";
import type { Stage } from "./stage.ts";
import { Vitals } from "./vitals.ts";
import { p99Of, worstWindow } from "./windows.ts";

export type SiegeOptions = {
  attacks: readonly Attack[];
  seed: number;
  seconds: { quiet: number; each: number; together: number };
  onPhase?: (phase: Phase) => void;
  signal?: AbortSignal;
};

/** Latencies of the ordinary clients. */
export type Latencies = {
  calls: number;
  /** The p99 over all calls, and over the worst five seconds. */
  p99Ms: number;
  worstP99Ms: number;
  byKind: Partial<Record<CallKind, number>>;
};

/** The measurements during one attack, or while nobody attacked. */
export type Phase = Latencies & {
  name: string;
  attacks: readonly string[];
  /** Whether one turn of the event loop may have had many requests to handle. */
  isCrowd: boolean;
  fromMs: number;
  untilMs: number;
  residentMb: number;
  heldMs: number;
  lagMs: number;
  /** How long after the attack's end the apply lag fell below a second; null if not within the limit. */
  backAfterMs: number | null;
  journalBytes: number;
  reports: readonly AttackReport[];
};

export type Siege = {
  phases: readonly Phase[];
  /** Whether everything acknowledged was applied in the end. */
  isApplied: boolean;
  audit: Audit;
  /** The attacks' own conditions that did not hold. */
  faults: readonly { attack: string; text: string }[];
};

export const LAG_MS_MAX = 1_000;
export const BACK_MS_MAX = 60_000;
const WARM_UP_MS = 8_000;
const SETTLE_MS_MAX = 600_000;

/**
 * warm-up ─▶ quiet ─▶ attack ─▶ calm again? ─▶ next attack … ─▶ all together ─▶ calm again? ─▶ everything applied ─▶ audit
 */
export async function besiege(stage: Stage, options: SiegeOptions): Promise<Siege> {
  const { attacks, seconds, seed, onPhase = () => {}, signal } = options;
  const clients = new OrdinaryClients(stage.target.url, stage.victim, seed);
  const vitals = new Vitals(stage.server);
  const attackers = new Attackers(stage.target);
  const phases: Phase[] = [];
  const measured = new Measuring(clients, vitals);
  const note = (phase: Phase) => {
    phases.push(phase);
    onPhase(phase);
  };
  try {
    await clients.begin();
    vitals.start();
    clients.start();
    await sleep(WARM_UP_MS);
    note(
      await measured.phase({ name: "quiet", attacks: [], isCrowd: false }, () =>
        sleep(seconds.quiet * 1000).then(() => []),
      ),
    );
    const strike = (names: readonly string[], s: number) => () =>
      attackers.strike(names, { seed, ms: s * 1000, strikesMax: Number.POSITIVE_INFINITY });
    for (const { name, isCrowd = false } of attacks) {
      if (signal?.aborted || !stage.server.isRunning) break;
      note(await measured.phase({ name, attacks: [name], isCrowd }, strike([name], seconds.each)));
    }
    if (seconds.together > 0 && !signal?.aborted && stage.server.isRunning) {
      const names = attacks.map(({ name }) => name);
      note(
        await measured.phase({ name: "all together", attacks: names, isCrowd: true }, strike(names, seconds.together)),
      );
    }
    await (stage.server.isRunning ? clients.stop() : clients.abandon());
    const isApplied = await settle(stage.target.url, SETTLE_MS_MAX, () => {}, "applied").then(
      () => true,
      () => false,
    );
    if (!stage.server.isRunning) throw new Error(`The server has ended:\n${stage.server.output}`);
    const answered = phases.map((phase) => ({ ...phase, ...measured.latencies(phase) }));
    const faults = await faultsOf(stage, attacks, phases);
    return { phases: answered, isApplied, audit: await audit(stage, clients.book), faults };
  } finally {
    attackers.close();
    await vitals.stop();
    await clients.abandon();
  }
}

class Measuring {
  readonly #clients: OrdinaryClients;
  readonly #vitals: Vitals;
  /** Bytes per second that the ordinary clients write to the journal. */
  #ordinaryBytesPerS = 0;

  constructor(clients: OrdinaryClients, vitals: Vitals) {
    this.#clients = clients;
    this.#vitals = vitals;
  }

  async phase(
    { name, attacks, isCrowd }: Pick<Phase, "name" | "attacks" | "isCrowd">,
    run: () => Promise<readonly AttackReport[]>,
  ): Promise<Phase> {
    const fromMs = elapsedMs();
    const durable = this.#vitals.now?.durable ?? 0;
    const reports = await run();
    const untilMs = elapsedMs();
    const grown = (this.#vitals.now?.durable ?? 0) - durable;
    const seconds = (untilMs - fromMs) / 1000;
    if (attacks.length === 0) this.#ordinaryBytesPerS = grown / seconds;
    const backAfterMs = attacks.length === 0 ? 0 : await this.#calm(untilMs);
    const vitals = this.#vitals.between(fromMs, elapsedMs());
    const most = (of: "residentMb" | "heldMs" | "lagMs") => Math.max(0, ...vitals.map((vital) => vital[of] || 0));
    return {
      ...this.latencies({ fromMs, untilMs }),
      name,
      attacks,
      isCrowd,
      fromMs,
      untilMs,
      backAfterMs,
      reports,
      residentMb: most("residentMb"),
      heldMs: most("heldMs"),
      lagMs: most("lagMs"),
      journalBytes: Math.max(0, Math.round(grown - this.#ordinaryBytesPerS * seconds)),
    };
  }

  /** The latencies of the ordinary clients; final once all of them have their answers. */
  latencies({ fromMs, untilMs }: { fromMs: number; untilMs: number }): Latencies {
    const samples = this.#clients.samplesBetween(fromMs, untilMs);
    const kinds = [...new Set(samples.map(({ kind }) => kind))];
    return {
      calls: samples.length,
      p99Ms: p99Of(samples),
      worstP99Ms: worstWindow(samples, { fromMs, untilMs }),
      byKind: Object.fromEntries(kinds.map((kind) => [kind, p99Of(samples.filter((one) => one.kind === kind))])),
    };
  }

  /** Waits until apply has caught up; returns how long that took. */
  async #calm(sinceMs: number): Promise<number | null> {
    for (;;) {
      const { now } = this.#vitals;
      if (now && now.atMs > sinceMs && now.lagMs < LAG_MS_MAX) return now.atMs - sinceMs;
      if (elapsedMs() - sinceMs > BACK_MS_MAX) return null;
      await sleep(100);
    }
  }
}

/** Conditions that did not hold, as seen by the attackers and from inside the server. */
async function faultsOf(stage: Stage, attacks: readonly Attack[], phases: readonly Phase[]): Promise<Siege["faults"]> {
  const faults: { attack: string; text: string }[] = [];
  for (const attack of attacks) {
    const own = phases.find(({ name }) => name === attack.name);
    const reports = phases.flatMap((phase) => phase.reports.filter(({ name }) => name === attack.name));
    const seen = new Set(reports.flatMap((report) => report.faults));
    if (own && attack.check) {
      const report = own.reports[0]!;
      const given = { stage, report, journalBytes: own.journalBytes };
      const checked = await attack.check(given).catch((error) => [`could not be checked: ${messageOf(error)}`]);
      for (const text of checked) seen.add(text);
    }
    for (const text of seen) faults.push({ attack: attack.name, text });
  }
  return faults;
}
