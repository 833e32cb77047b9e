import { messageOf } from "../../src/errors.ts";
import type { Fault, Trouble } from "./fault.ts";
import { Place, type PlaceKind } from "./place.ts";
import { type RoundOutcome, runRound } from "./round.ts";
import { scheduleOf } from "./schedule.ts";

export type ChaosOptions = {
  rounds: number;
  faults: readonly Fault[];
  seed: number;
  form: Trouble["form"];
  peoplePerS: number;
  /** A place's journal is replayed after this many rounds there, and after its last one. */
  replayEvery: number;
  onStep?: (what: string) => void;
  onRound?: (outcome: RoundOutcome) => void;
  signal?: AbortSignal;
};

/** Runs round after round at the places that the faults need; each place keeps its people and tables throughout. */
export async function runChaos(options: ChaosOptions): Promise<RoundOutcome[]> {
  const { faults, form, seed, replayEvery, onStep = () => {}, onRound = () => {}, signal } = options;
  const schedule = scheduleOf(faults, options);
  const places = new Map<PlaceKind, Place>();
  const roundsAt = new Map<PlaceKind, number>();
  const outcomes: RoundOutcome[] = [];
  // A failed clean-up must not lose the findings.
  const leave = (place: Place) => place.remove().catch((error) => onStep(messageOf(error)));
  try {
    for (const [index, fault] of schedule.entries()) {
      if (signal?.aborted) break;
      const number = index + 1;
      onStep(`${number} ${fault.name}`);
      const place = places.get(fault.at) ?? (await Place.open({ kind: fault.at, ...options, seed: seed + number }));
      places.set(fault.at, place);
      const rounds = (roundsAt.get(fault.at) ?? 0) + 1;
      roundsAt.set(fault.at, rounds);
      const isLast = !schedule.slice(number).some(({ at }) => at === fault.at);
      const replays = isLast || rounds % replayEvery === 0 ? "yes" : "no";
      const outcome = await runRound(fault, place, { number, seed, form, replays });
      outcomes.push(outcome);
      onRound(outcome);
      if (isLast || outcome.failure !== undefined) {
        places.delete(fault.at);
        await leave(place);
      }
    }
  } finally {
    for (const place of places.values()) await leave(place);
  }
  return outcomes;
}
