import { elapsedMs } from "../../src/clock.ts";
import { messageOf } from "../../src/errors.ts";
import { Random } from "../market/random.ts";
import type { Fault, Trouble } from "./fault.ts";
import { Findings, type PromiseNumber, type Violation } from "./findings.ts";
import { audit } from "./promises/audit.ts";
import { replayed } from "./promises/replayed.ts";
import type { Site, SiteKind } from "./site.ts";

/** The result of one round. */
export type RoundOutcome = {
  number: number;
  fault: string;
  site: SiteKind;
  tookMs: number;
  /** The duration of each part. */
  stepsMs: Record<string, number>;
  /** Calls of this round. */
  calls: number;
  sent: number;
  /** Events that were checked against the tables in the end, and those of a round that ended early. */
  acknowledged: number;
  unaudited: number;
  destroyed: number;
  lost: number;
  doubled: number;
  givenUp: number;
  checked: Partial<Record<PromiseNumber, number>>;
  violations: Violation[];
  notes: string[];
  /** Why the round ended early; its site cannot be used any more. */
  failure?: string;
};

export type RoundOptions = {
  number: number;
  seed: number;
  form: Trouble["form"];
  /** Whether the whole journal is replayed at the end. */
  replays: "yes" | "no";
};

const EVENTS = { short: 30, long: 120 };

/**
 * load ─▶ fault ─▶ recovery ─▶ load ─▶ everything has arrived ─▶ all promises against the truth
 */
export async function runRound(fault: Fault, site: Site, options: RoundOptions): Promise<RoundOutcome> {
  const { number, seed, form, replays } = options;
  const startedMs = elapsedMs();
  const random = new Random(seed, "round", number);
  const findings = new Findings();
  const before = { ...site.truth.counts, ...site.sums };
  let failure: string | undefined;
  let isAudited = false;
  const stepsMs: Record<string, number> = {};
  const step = async (name: string, run: () => Promise<void>) => {
    const stepStartedMs = elapsedMs();
    await run();
    stepsMs[name] = Math.round(elapsedMs() - stepStartedMs);
  };
  try {
    const trouble: Trouble = { site, random, findings, form };
    site.live.resume();
    await step("load", () => site.flows(EVENTS[form]));
    await step("inflict", () => fault.inflict(trouble));
    await step("mend", () => fault.mend(trouble));
    await step("load again", () => site.flows(EVENTS[form]));
    await step("drain", () => site.drain());
    const putOff = site.truth.counts.putOff - before.putOff;
    if (fault.refuses !== "yes") findings.equal(5, "calls that were put off", { is: putOff, should: 0 });
    await step("audit", () => audit(site, findings, random));
    isAudited = true;
    if (replays === "yes") await step("replay", () => replayed(site, findings));
  } catch (error) {
    failure = `${messageOf(error)}\n${site.server.output}`;
  }
  const { counts } = site.truth;
  const violations = findings.violations.filter(({ text }) => !site.told.has(text));
  for (const { text } of violations) site.told.add(text);
  // Without an audit, the earlier findings stand.
  const { destroyed, givenUp, lost, doubled } = isAudited ? findings : before;
  site.sums = { destroyed, givenUp, lost, doubled };
  const acknowledged = counts.events - before.events;
  return {
    number,
    fault: fault.name,
    site: site.kind,
    tookMs: Math.round(elapsedMs() - startedMs),
    stepsMs,
    calls: counts.calls - before.calls,
    sent: counts.sent - before.sent,
    acknowledged: isAudited ? acknowledged : 0,
    unaudited: isAudited ? 0 : acknowledged,
    destroyed: destroyed - before.destroyed,
    givenUp: givenUp - before.givenUp,
    lost: lost - before.lost,
    doubled: doubled - before.doubled,
    checked: Object.fromEntries(findings.checked),
    violations,
    notes: findings.notes,
    ...(failure !== undefined && { failure }),
  };
}
