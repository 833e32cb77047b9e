import type { Random } from "../market/random.ts";
import type { Caller } from "./caller.ts";
import type { Stage } from "./stage.ts";
import type { Target } from "./target.ts";

/** What a strike is given. It goes on until it is over. */
export type Assault = {
  target: Target;
  caller: Caller;
  random: Random;
  /** Runs strikes side by side until the time, or the number of strikes, is over. */
  repeat(atOnce: number, strike: (number: number) => Promise<void>): Promise<void>;
  isOver(): boolean;
  /** Resolves when the time is over. */
  over: Promise<void>;
  /** `text` says what is the case where it does not hold. */
  hold(holds: boolean, text: string): void;
};

/** What came of an attack, as the attacker saw it. */
export type AttackReport = {
  name: string;
  calls: number;
  bytesSent: number;
  /** How often each answer came: the HTTP status and the code of the envelope; `none` where none came. */
  answers: Record<string, number>;
  faults: string[];
};

/** By how much the journal grew meanwhile, beyond what the ordinary clients write. */
export type Aftermath = { stage: Stage; report: AttackReport; journalBytes: number };

export type Attack = {
  name: string;
  /** Of the list of what must be hard to stop; the same number stands in docs/SECURITY.md. */
  point: string;
  by: "an outsider" | "the owner of another app" | "somebody inside";
  what: string;
  /** Beyond what must hold under every attack. */
  holds: string;
  /** It sends hundreds of requests at the same instant, so that one turn of the event loop has many of them to handle. */
  isCrowd?: true;
  strike(assault: Assault): Promise<void>;
  /** Looks at the server from inside, when everything has been applied; says what does not hold. */
  check?(aftermath: Aftermath): Promise<string[]>;
};
