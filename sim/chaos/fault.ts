import type { Random } from "../market/random.ts";
import type { Findings } from "./findings.ts";
import type { Site, SiteKind } from "./site.ts";

/** What a fault is given: the site to harm, and where to record what only the fault can see. */
export type Trouble = {
  site: Site;
  random: Random;
  findings: Findings;
  /** short: just long enough to show the effect. long: as long as in real life. */
  form: "short" | "long";
};

export type Fault = {
  name: string;
  /** A one-line description. */
  what: string;
  kind: "kill" | "other";
  at: SiteKind;
  /** For kills: the relative frequency. */
  weight?: number;
  /** Whether clients may be told to try again meanwhile. */
  refuses?: "yes";
  inflict(trouble: Trouble): Promise<void>;
  mend(trouble: Trouble): Promise<void>;
};
