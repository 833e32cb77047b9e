import { dayOf } from "./oracle-days.ts";
import type { Happening, Market, Person } from "./oracle-market.ts";

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

type Ad = { person: Person; happening: Extract<Happening, { kind: "ad" }>; unit: string; day: string };

function allRevenues(market: Market): Map<Happening, Revenue> {
  const people = market.people.filter(({ isErased }) => !isErased);
  const ads = people.flatMap((person) =>
    person.happenings.flatMap((happening): Ad[] => {
      if (happening.kind !== "ad") return [];
      return [{ person, happening, unit: happening.unit ?? "", day: dayOf(happening.atMs, market.timeZone) }];
    }),
  );
  const days = groupedBy(ads, ({ day }) => day);
  return new Map([...days].flatMap(([day, ofDay]) => revenuesOfDay(market, day, ofDay)));
}

/**
 * What the platform tells by player goes to the player's ads. What it tells of players who have none goes to the ads of
 * people without an open id, unless the platform tells what their unit earned. The other ads count by unit.
 */
function revenuesOfDay(market: Market, day: string, ads: readonly Ad[]): [Happening, Revenue][] {
  const told = market.playerRevenue.filter((one) => one.day === day);
  const playerOf = ({ person, unit }: Ad): string | undefined => {
    const openId = person.openId || person.clientId;
    if (told.some((one) => one.openId === openId)) return openId;
    const isToldByUnit = unitRevenue(market, unit, day) !== undefined;
    return person.openId === "" && !isToldByUnit ? "" : undefined;
  };
  const players = groupedBy(ads, (ad) => playerOf(ad) ?? "nobody's");
  players.delete("nobody's");
  const sums = new Map<string, bigint>();
  for (const { openId, micros } of told) {
    const player = players.has(openId) ? openId : "";
    sums.set(player, (sums.get(player) ?? 0n) + BigInt(micros));
  }
  const byPlayer = [...players].filter(([player]) => sums.has(player));
  const counted = new Set(byPlayer.flatMap(([, own]) => own));
  const units = groupedBy(
    ads.filter((ad) => !counted.has(ad)),
    ({ unit }) => unit,
  );
  return [
    ...byPlayer.flatMap(([player, own]) => sharesOf(own, sums.get(player)!)),
    ...[...units].flatMap(([unit, own]) => revenuesOfUnit(market, { unit, day }, own)),
  ];
}

function unitRevenue({ pulledRevenue }: Market, unit: string, day: string): bigint | undefined {
  const told = unit === "" ? undefined : pulledRevenue.find((one) => one.unit === unit && one.day === day);
  return told && BigInt(told.micros);
}

/** If the platform says nothing about the unit, the eCPM is the estimate. */
function revenuesOfUnit(
  market: Market,
  { unit, day }: { unit: string; day: string },
  ads: readonly Ad[],
): [Happening, Revenue][] {
  const told = unitRevenue(market, unit, day);
  if (told !== undefined) return sharesOf(ads, told);
  const ecpm = market.ecpms.find((one) => one.unit === unit && one.fromDay <= day && day <= one.toDay);
  return unpricedOf(ads).map(({ happening }) => [happening, { ...NOTHING, estimated: BigInt(ecpm?.viewMicros ?? 0) }]);
}

/**
 * What was told, less what clients reported, goes to the other ads in equal shares, and the millionths that are left to the
 * first ones, by person, unit and time.
 */
function sharesOf(ads: readonly Ad[], told: bigint): [Happening, Revenue][] {
  const reported = ads.reduce((sum, { happening }) => sum + BigInt(happening.micros), 0n);
  const rest = told > reported ? told - reported : 0n;
  const unpriced = unpricedOf(ads);
  const count = BigInt(unpriced.length);
  return unpriced.map(({ happening }, index) => {
    const share = rest / count + (BigInt(index) < rest % count ? 1n : 0n);
    return [happening, { ...NOTHING, pulled: share }];
  });
}

function unpricedOf(ads: readonly Ad[]): Ad[] {
  const isBefore = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);
  return ads
    .filter(({ happening }) => happening.micros === 0)
    .sort(
      (one, other) =>
        isBefore(one.person.clientId, other.person.clientId) ||
        isBefore(one.unit, other.unit) ||
        one.happening.atMs - other.happening.atMs,
    );
}

function groupedBy(ads: readonly Ad[], keyOf: (ad: Ad) => string): Map<string, Ad[]> {
  const groups = new Map<string, Ad[]>();
  for (const ad of ads) {
    const known = groups.get(keyOf(ad));
    if (known) known.push(ad);
    else groups.set(keyOf(ad), [ad]);
  }
  return groups;
}
