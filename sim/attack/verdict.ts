import type { Attack } from "./attack.ts";
import { BACK_MS_MAX, type Phase, type Siege } from "./siege.ts";

/** One condition, and whether it held. */
export type Hold = { what: string; limit: string; is: string; isKept: boolean };

export const LIMITS = { slower: 10, residentMb: 600, heldMs: 50 } as const;

/** The conditions that must hold under every attack. */
export function holdsOf({ phases, isApplied, audit, faults }: Siege): Hold[] {
  const quiet = phases[0]!;
  const attacked = phases.slice(1);
  const worst = (among: readonly Phase[], of: (phase: Phase) => number) =>
    among.reduce((most, phase) => (of(phase) > of(most) ? phase : most), among[0] ?? quiet);
  const slowest = worst(attacked.filter(isTimed), ({ worstP99Ms }) => worstP99Ms);
  const held = worst(
    attacked.filter(({ isCrowd }) => !isCrowd),
    ({ heldMs }) => heldMs,
  );
  const fattest = worst(attacked, ({ residentMb }) => residentMb);
  const back = worst(attacked, ({ backAfterMs }) => backAfterMs ?? Number.POSITIVE_INFINITY);
  const refusals = Object.entries(audit.refusals).map(([answer, count]) => `${count} × ${answer}`);
  const limitMs = LIMITS.slower * quiet.p99Ms;
  const none = (what: string, list: readonly string[]): Hold => ({
    what,
    limit: "none",
    is: list.length === 0 ? "none" : list.join("; "),
    isKept: list.length === 0,
  });
  return [
    {
      what: "p99 of the ordinary clients, in every five seconds",
      limit: `< ${LIMITS.slower} × the quiet ${ms(quiet.p99Ms)} = ${ms(limitMs)}`,
      is: `${ms(slowest.worstP99Ms)} (${slowest.name})`,
      isKept: slowest.worstP99Ms < limitMs,
    },
    {
      what: "resident memory of the server",
      limit: `< ${LIMITS.residentMb} MB`,

      is: `${Math.round(fattest.residentMb)} MB (${fattest.name})`,
      isKept: fattest.residentMb < LIMITS.residentMb,
    },
    {
      what: "event loop held by requests",
      limit: `≤ ${LIMITS.heldMs} ms`,
      is: `${ms(held.heldMs)} (${held.name})`,
      isKept: held.heldMs <= LIMITS.heldMs,
    },
    {
      what: "apply lag back under a second after an attack's end",
      limit: `within ${BACK_MS_MAX / 1000} s`,
      is: back.backAfterMs === null ? `not by then (${back.name})` : `${seconds(back.backAfterMs)} (${back.name})`,
      isKept: back.backAfterMs !== null,
    },
    none("acknowledged and not applied in the end", isApplied ? [] : ["some is left after ten minutes"]),
    none("acknowledged and lost", audit.lost),
    none("there twice", audit.doubled),
    none("rows of the app that its clients never sent", audit.foreign),
    none("ordinary calls refused or left without an answer", refusals),
    none("minutes of a ledger that do not add up", audit.minutesOff === 0 ? [] : [String(audit.minutesOff)]),
    none("entries that were acknowledged and not understood", audit.setAside),
    ...[...new Set(faults.map(({ attack }) => attack))].map((name) =>
      none(
        name,
        faults.filter(({ attack }) => attack === name).map(({ text }) => text),
      ),
    ),
  ];
}

/**
 * Whether time limits apply. All attacks together use every core, and the server and its clients share what is left: their
 * times are shown, but say little about the server.
 */
function isTimed({ attacks }: Phase): boolean {
  return attacks.length === 1;
}

/** Whether everything held during one attack. */
export function isHeld(phase: Phase, siege: Siege): boolean {
  const limitMs = LIMITS.slower * siege.phases[0]!.p99Ms;
  return (
    (!isTimed(phase) || phase.worstP99Ms < limitMs) &&
    (phase.isCrowd || phase.heldMs <= LIMITS.heldMs) &&
    phase.residentMb < LIMITS.residentMb &&
    phase.backAfterMs !== null &&
    !(phase.attacks.length === 1 && siege.faults.some(({ attack }) => attack === phase.name))
  );
}

/** How an attack's calls were answered, the most frequent first. */
export function answersOf({ reports }: Phase): string {
  const sums = new Map<string, number>();
  for (const { answers } of reports)
    for (const [answer, count] of Object.entries(answers)) sums.set(answer, (sums.get(answer) ?? 0) + count);
  const sorted = [...sums].sort(([, left], [, right]) => right - left);
  return (
    sorted
      .slice(0, 3)
      .map(([answer, count]) => `${count} × ${answer}`)
      .join(", ") || "-"
  );
}

export function pointOf(name: string, attacks: readonly Attack[]): string {
  return attacks.find((attack) => attack.name === name)?.point ?? "";
}

export function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

export function seconds(valueMs: number): string {
  return `${(valueMs / 1000).toFixed(1)} s`;
}
