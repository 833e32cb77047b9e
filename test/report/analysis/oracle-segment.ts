import type { Did, Segment, Within } from "../../../src/contract/analysis/segment.ts";
import { addDays, dayOf } from "../oracle-days.ts";
import type { Market, User } from "./market.ts";
import {
  conditionHolds,
  exactOf,
  type Fact,
  factsOf,
  isOfSource,
  numberOfExact,
  valueOfField,
} from "./oracle-filter.ts";

type Days = readonly [from: string, to: string];

/** The clients of a segment. Without a segment everybody, also clients without a row among the users. */
export function membersOf(
  segment: Segment | undefined,
  dates: readonly string[],
  market: Market,
): (client: string) => boolean {
  if (!segment) return () => true;
  const facts = factsOf(market);
  const days: Days = [dates[0]!, dates[1]!];
  const members = market.users.filter((user) => isMember(segment, user, { facts, days, market }));
  const clients = new Set(members.map(({ client }) => client));
  return (client) => clients.has(client);
}

type Known = { facts: readonly Fact[]; days: Days; market: Market };

function isMember(segment: Segment, user: User, known: Known): boolean {
  if ("join" in segment) {
    const parts = segment.parts.map((part) => isMember(part, user, known));
    return segment.join === "and" ? parts.every(Boolean) : parts.some(Boolean);
  }
  const { facts, market } = known;
  if (segment.kind === "saved") return isMember(market.saved!.get(segment.segment)!, user, known);
  const isWithin = (day: string, [from, to]: Days) => day >= from && day <= to;
  if (segment.kind === "user") {
    const fact: Fact = { client: user.client, ms: 0, day: "", event: undefined, order: undefined, user };
    return conditionHolds(segment, valueOfField(segment.field, fact, market));
  }
  const days = daysOf(segment, known.days);
  if (segment.kind === "registered") return isWithin(dayOf(user.registeredMs, market.zone), days);
  const own = facts.filter(
    (fact) => fact.client === user.client && isWithin(fact.day, days) && isOfSource(segment, fact, market),
  );
  if (segment.kind === "did_not") return own.length === 0;
  return own.length > 0 && compares(segment, numberOf(segment, own));
}

function numberOf(did: Did, facts: readonly Fact[]): number {
  if (did.measure === "count") return facts.length;
  if (did.measure === "days") return new Set(facts.map(({ day }) => day)).size;
  return numberOfExact(facts.reduce((sum, fact) => sum + (exactOf(did, fact) ?? 0n), 0n));
}

function compares({ operator, values: [one = 0, other = 0] }: Did, number: number): boolean {
  switch (operator) {
    case "equal":
      return number === one;
    case "less":
      return number < one;
    case "at_most":
      return number <= one;
    case "greater":
      return number > one;
    case "at_least":
      return number >= one;
    case "between":
      return number >= one && number <= other;
  }
}

function daysOf({ date_list, last_days }: Within, days: Days): Days {
  if (date_list) return [date_list[0]!, date_list[1]!];
  return last_days === undefined ? days : [addDays(days[1], 1 - last_days), days[1]];
}
