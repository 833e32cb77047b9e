import { getPriority, setPriority } from "node:os";
import { elapsedMs } from "../../src/clock.ts";
import { messageOf } from "../../src/errors.ts";
import { Random } from "../market/random.ts";
import type { Assault, Attack, AttackReport } from "./attack.ts";
import { Caller } from "./caller.ts";
import type { Target } from "./target.ts";

export type AssaultLength = {
  seed: number;
  /** An attack ends after this long, or after this many strikes. */
  ms: number;
  strikesMax: number;
};

const FAULTS_KEPT = 5;
const LATER = 5;

/** Real attackers have their own machines; here they share the server's cores, at a lower priority. */
export function giveWay(): void {
  setPriority(getPriority() + LATER);
}

/** One attack, from the first strike to the last. */
export async function assault(attack: Attack, target: Target, length: AssaultLength): Promise<AttackReport> {
  const { seed, ms, strikesMax } = length;
  const caller = new Caller(target.url);
  const endMs = elapsedMs() + ms;
  const faults = new Set<string>();
  let strikes = 0;
  let end = () => {};
  const over = new Promise<void>((resolve) => (end = resolve));
  const timer = setTimeout(end, ms);
  const isOver = () => elapsedMs() >= endMs || strikes >= strikesMax;
  const given: Assault = {
    target,
    caller,
    over,
    isOver,
    random: new Random(seed, attack.name),
    hold(holds, text) {
      if (!holds && faults.size < FAULTS_KEPT) faults.add(text);
    },
    async repeat(atOnce, strike) {
      const lane = async () => {
        while (!isOver()) {
          strikes += 1;
          if (strikes >= strikesMax) end();
          await strike(strikes);
        }
      };
      await Promise.all(Array.from({ length: Math.min(atOnce, strikesMax) }, lane));
    },
  };
  try {
    await attack.strike(given);
  } catch (error) {
    faults.add(`The attack broke: ${messageOf(error)}`);
  } finally {
    clearTimeout(timer);
    caller.close();
  }
  const { calls, bytesSent, answers } = caller;
  return { name: attack.name, calls, bytesSent, answers: Object.fromEntries(answers), faults: [...faults] };
}
