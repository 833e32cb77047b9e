import type { Attributed, Pair } from "./findings.ts";

/** `found`: attributed so by the server. `known`: could have been known. `right`: both. */
export type Hits = { found: number; known: number; right: number; precision: number; recall: number };

export type AttributionScore = {
  byMethod: Record<string, Hits>;
  byPlatform: Record<string, Hits>;
  deterministic: Hits;
  /** People brought by an ad without any evidence of it. */
  unknowable: number;
  /** Organic people attributed to an ad. */
  organicGivenAway: number;
  /** People won by a forged touch that looks genuine. */
  givenToFraud: number;
};

const DETERMINISTIC = ["click_key", "device_id", "open_id", "launch_query"] as const;
const METHODS = [...DETERMINISTIC, "ip_ua", "reported"];

/** Right means that platform and ad are right. People made by a farm were brought by nobody; the fraud score judges them. */
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

export function isRight({ person, found }: Attributed): boolean {
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
