import { dayOf } from "./oracle-days.ts";
import type { Happening, Market } from "./oracle-market.ts";

/** What an ad inside the app earned, by who says so. */
type Revenue = { reported: bigint; pulled: bigint; estimated: bigint };

const NOTHING: Revenue = { reported: 0n, pulled: 0n, estimated: 0n };

export function adMicros(market: Market, happening: Happening): bigint {
  const { reported, pulled, estimated } = revenueOf(market, happening);
  return reported + pulled + estimated;
}

/** What an ad earned; nothing for what is no ad. */
export function revenueOf(market: Market, happening: Happening): Revenue {
  if (happening.kind !== "ad") return NOTHING;
  const known = revenues.get(market) ?? allRevenues(market);
  revenues.set(market, known);
  return known.get(happening) ?? { ...NOTHING, reported: BigInt(happening.micros) };
}

/** The ads of each market whose clients do not know what they earned. Computed once, because every metric asks. */
const revenues = new WeakMap<Market, Map<Happening, Revenue>>();

type Ad = { clientId: string; happening: Extract<Happening, { kind: "ad" }>; day: string };

function allRevenues(market: Market): Map<Happening, Revenue> {
  const ads = market.people.flatMap(({ clientId, happenings }) =>
    happenings.flatMap((happening): Ad[] =>
      happening.kind === "ad" && happening.unit !== undefined
        ? [{ clientId, happening, day: dayOf(happening.atMs, market.timeZone) }]
        : [],
    ),
  );
  const units = new Map<string, Ad[]>();
  for (const ad of ads) {
    const key = JSON.stringify([ad.happening.unit, ad.day]);
    const known = units.get(key);
    if (known) known.push(ad);
    else units.set(key, [ad]);
  }
  return new Map([...units.values()].flatMap((unit) => revenuesOfUnit(market, unit)));
}

/**
 * The ads of one unit and day. What the platform says, less what clients reported, goes to the others in equal shares, and
 * the millionths that are left to the first ones, by person and time. If it says nothing, the eCPM is the estimate.
 */
function revenuesOfUnit({ pulledRevenue, ecpms }: Market, ads: readonly Ad[]): [Happening, Revenue][] {
  const { happening: first, day } = ads[0]!;
  const told = pulledRevenue.find((one) => one.unit === first.unit && one.day === day);
  const ecpm = ecpms.find(({ unit, fromDay, toDay }) => unit === first.unit && fromDay <= day && day <= toDay);
  const unpriced = ads.filter(({ happening }) => happening.micros === 0).sort(byPersonAndTime);
  const reported = ads.reduce((sum, { happening }) => sum + BigInt(happening.micros), 0n);
  const rest = told && BigInt(told.micros) > reported ? BigInt(told.micros) - reported : 0n;
  const count = BigInt(unpriced.length);
  return unpriced.map(({ happening }, index) => {
    const share = rest / count + (BigInt(index) < rest % count ? 1n : 0n);
    const earned = told ? { pulled: share } : { estimated: BigInt(ecpm?.viewMicros ?? 0) };
    return [happening, { ...NOTHING, ...earned }];
  });
}

function byPersonAndTime(one: Ad, other: Ad): number {
  if (one.clientId !== other.clientId) return one.clientId < other.clientId ? -1 : 1;
  return one.happening.atMs - other.happening.atMs;
}
