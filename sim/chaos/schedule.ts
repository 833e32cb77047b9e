import { Random } from "../market/random.ts";
import type { Fault } from "./fault.ts";

/**
 * The fault of each round, the same for the same seed. Every fault comes at least once if there are enough rounds; the rest
 * are kills, because no two of them meet the server in the same state.
 */
export function scheduleOf(faults: readonly Fault[], { rounds, seed }: { rounds: number; seed: number }): Fault[] {
  const random = new Random(seed, "schedule");
  const once = shuffled(faults, random).slice(0, rounds);
  const kills = faults.filter(({ kind }) => kind === "kill");
  const more = kills.length > 0 ? kills : faults;
  const rest = Array.from({ length: rounds - once.length }, () => random.weighted(more, ({ weight = 1 }) => weight));
  return shuffled([...once, ...rest], random);
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const left = [...list];
  return Array.from({ length: left.length }, () => left.splice(random.whole(0, left.length - 1), 1)[0]!);
}
