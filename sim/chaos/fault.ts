import type { Random } from "../market/random.ts";
import type { Findings } from "./findings.ts";
import type { Place, PlaceKind } from "./place.ts";

/** What a fault is given: the place to harm, and where to note what only it can see. */
export type Trouble = {
  place: Place;
  random: Random;
  findings: Findings;
  /** Short: as long as it takes to see the point. Long: as long as it would take in life. */
  form: "short" | "long";
};

export type Fault = {
  name: string;
  /** One line for people. */
  what: string;
  kind: "kill" | "other";
  at: PlaceKind;
  /** Of kills: how often, against the others. */
  weight?: number;
  /** Whether clients may be told to try again meanwhile. */
  refuses?: "yes";
  inflict(trouble: Trouble): Promise<void>;
  mend(trouble: Trouble): Promise<void>;
};
