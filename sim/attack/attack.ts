import type { Random } from "../market/random.ts";
import type { Caller } from "./caller.ts";
import type { Stage } from "./stage.ts";
import type { Target } from "./target.ts";

/** What an attack is given. It strikes until the time is up. */
export type Assault = {
  target: Target;
  caller: Caller;
  random: Random;
  /** Runs strikes side by side until the time is up or all strikes are made. */
  repeat(atOnce: number, strike: (number: number) => Promise<void>): Promise<void>;
  isOver(): boolean;
  /** Resolves when the time is up. */
  over: Promise<void>;
  /** Records a check; `text` describes the failure. */
  hold(holds: boolean, text: string): void;
};

/** The result of an attack as the attacker saw it. */
export type AttackReport = {
  name: string;
  calls: number;
  bytesSent: number;
  /** The number of each answer by HTTP status and envelope code; `none` if no answer came. */
  answers: Record<string, number>;
  faults: string[];
};

/** The state after an attack; `journalBytes` is the journal's growth beyond what the ordinary clients write. */
export type Aftermath = { stage: Stage; report: AttackReport; journalBytes: number };

export type Attack = {
  name: string;
  /** The number of the promise in docs/SECURITY.md that is attacked. */
  point: string;
  by: "an outsider" | "the owner of another app" | "somebody inside";
  what: string;
  /** What must hold beyond the conditions for every attack. */
  holds: string;
  /** Hundreds of requests arrive at once, so that one turn of the event loop has many of them to handle. */
  isCrowd?: true;
  strike(assault: Assault): Promise<void>;
  /** Examines the server from inside once everything has been applied; returns what does not hold. */
  check?(aftermath: Aftermath): Promise<string[]>;
};
