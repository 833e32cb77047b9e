import type { Pair, Placed } from "./findings.ts";

/** `found`: how many the server has named so. `known`: of how many it could have been known. `right`: of both. */
export type Hits = { found: number; known: number; right: number; precision: number; recall: number };

export type AttributionScore = {
  byMethod: Record<string, Hits>;
  byPlatform: Record<string, Hits>;
  deterministic: Hits;
  /** Brought by an ad, though nothing that anybody was told shows it. */
  unknowable: number;
  /** Organic people whom the server gives to an ad, by what misled it. */
  organicGivenAway: number;
  /** Decided by a touch that was forged, though nothing about the touch shows it. */
  givenToFraud: number;
};

const DETERMINISTIC = ["click_key", "device_id", "open_id", "launch_query"] as const;
const METHODS = [...DETERMINISTIC, "ip_ua", "reported"];

/** Right: the platform and the ad. Who was made by a farm was brought by nobody, and is judged with the fraud. */
export function scoreAttribution(pairs: readonly Pair[]): AttributionScore {
  const people = pairs.filter(({ person }) => person.kind !== "farm");
  const of = (isFound: (pair: Pair) => boolean, isKnown: (pair: Pair) => boolean): Hits =>
    hits({
      found: people.filter(isFound).length,
      known: people.filter(isKnown).length,
      foundRight: people.filter((pair) => isFound(pair) && isRight(pair)).length,
      knownRight: people.filter((pair) => isKnown(pair) && isRight(pair)).length,
    });
  const isOneOf = (methods: readonly string[]) =>
    of(
      ({ found }) => methods.includes(found.method),
      ({ person }) => methods.includes(person.method),
    );
  const isKnown = ({ person }: Pair) => person.source !== null && person.method !== "none";
  const platforms = [
    ...new Set(people.flatMap(({ person }) => (person.source ? [person.source.platform] : []))),
  ].sort();
  return {
    byMethod: Object.fromEntries(METHODS.map((method) => [method, isOneOf([method])])),
    byPlatform: Object.fromEntries(
      platforms.map((platform) => [
        platform,
        of(
          ({ found }) => found.platform === platform,
          (pair) => isKnown(pair) && pair.person.source?.platform === platform,
        ),
      ]),
    ),
    deterministic: isOneOf(DETERMINISTIC),
    unknowable: people.filter(({ person }) => person.source !== null && person.method === "none").length,
    organicGivenAway: people.filter(({ person, found }) => person.source === null && found.platform !== "").length,
    givenToFraud: people.filter((pair) => !isRight(pair) && isForged(pair)).length,
  };
}

export function isRight({ person, found }: Placed): boolean {
  const source = person.source;
  return source !== null && source.platform === found.platform && source.aid === found.aid;
}

function isForged({ person, found }: Pair): boolean {
  return person.fraud.some(({ platform, aid }) => platform === found.platform && aid === found.aid);
}

function hits(counts: { found: number; known: number; foundRight: number; knownRight: number }): Hits {
  const share = (of: number, by: number) => (by === 0 ? 1 : of / by);
  const { found, known, foundRight, knownRight } = counts;
  return { found, known, right: knownRight, precision: share(foundRight, found), recall: share(knownRight, known) };
}
