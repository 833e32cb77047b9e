import { dimensionText } from "./cube.ts";
import { type JsonValue, textOf } from "./json.ts";
import { type GivenPeriod, overlapIn, type Period, periodText, readPeriod, shownPeriod } from "./period.ts";

/** The unit that a shown ad names; empty when it names none. */
export function adUnitOf(value: JsonValue | undefined): string {
  return dimensionText(textOf(value));
}

/** What an ad unit is estimated to earn in a period, until its platform tells. */
export type Ecpm = Period & {
  adUnit: string;
  /** What one shown ad earns, in millionths of the major unit: a thousandth of the eCPM. */
  viewMicros: number;
};

/** An eCPM as people write and read it. */
export type GivenEcpm = GivenPeriod & {
  ad_unit_id: string;
  /** Major units of the app's currency for a thousand shown ads. */
  ecpm: number;
};

/** A thousand ads that earn more than this are a mistake of the unit. */
const ECPM_MAX = 100_000;

/** Throws what is wrong with it. */
export function readEcpm({ ad_unit_id, ecpm, ...given }: GivenEcpm): Ecpm {
  if (ad_unit_id === "" || adUnitOf(ad_unit_id) !== ad_unit_id) throw new Error("ad_unit_id is empty or too long");
  const period = readPeriod(given);
  const viewMicros = Math.round(ecpm * 1_000);
  const isExact = Math.abs(viewMicros - ecpm * 1_000) < 1e-6;
  if (!isExact || ecpm < 0 || ecpm > ECPM_MAX) {
    throw new Error(`ecpm must be between 0 and ${ECPM_MAX}, with at most 3 decimals`);
  }
  return { adUnit: ad_unit_id, ...period, viewMicros };
}

export function shownEcpm({ adUnit, viewMicros, ...period }: Ecpm): GivenEcpm {
  return { ad_unit_id: adUnit, ...shownPeriod(period), ecpm: viewMicros / 1_000 };
}

/** Two periods of one unit that hold on the same day, or undefined. */
export function overlapOfEcpms<One extends Ecpm>(ecpms: readonly One[]): [One, One] | undefined {
  return overlapIn(ecpms, ({ adUnit }) => adUnit);
}

export function ecpmOverlapText([one, other]: readonly [Ecpm, Ecpm]): string {
  return `the periods of ad unit ${one.adUnit} overlap: ${periodText(one)} and ${periodText(other)}`;
}
