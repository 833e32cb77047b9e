import type { JsonObject } from "../json.ts";
import { roundHalfAway } from "../money.ts";
import type { Occurrence } from "./postback-rule.ts";

/*
 * The moments in a user's history. Apply makes them as data arrives; they are made again from the tables when a rule is
 * tried on the past, or when a user turns out to belong to another platform. Both use these functions.
 */

/** When something happened, on which day of the app's time zone, and when the server received it. */
export type At = Pick<Occurrence, "atMs" | "day" | "receivedAtMs">;

const PLAIN = { cents: null, count: null, traceId: "", properties: {} } as const;

export function registrationMoments(at: At): Occurrence[] {
  return ["activate", "register"].map((moment) => ({ ...PLAIN, ...at, moment }));
}

export function returnMoment(at: At): Occurrence {
  return { ...PLAIN, ...at, moment: "return" };
}

/** The first activity on the day `daysAfter` the registration. */
export function retentionMoment(at: At, daysAfter: number): Occurrence {
  return { ...PLAIN, ...at, moment: `retention_${daysAfter}` };
}

export type PaidOrder = At & { cents: number; payCount: number; traceId: string; properties: JsonObject };

export function orderMoments(order: PaidOrder, registeredDay: string): Occurrence[] {
  const { atMs, day, receivedAtMs, cents, payCount, traceId, properties } = order;
  const paid = (moment: string) => ({ moment, atMs, day, receivedAtMs, cents, count: payCount, traceId, properties });
  return [
    paid("pay"),
    ...(payCount === 1 ? [paid("first_pay")] : []),
    // The first one to arrive counts, because it is sent once per user.
    ...(day === registeredDay ? [paid("first_day_pay")] : []),
  ];
}

export function eventMoment(at: At, event: { name: string; properties: JsonObject }): Occurrence {
  return { ...PLAIN, ...at, moment: `event:${event.name}`, properties: event.properties };
}

/** An ad that the user has seen: its event's fingerprint, its revenue, and the event's properties. */
export type SeenAd = { id: string; micros: number; properties: JsonObject };

/**
 * Both moments of an ad. `count` and `micros`: the number of ads that the user has seen, including this one, and their
 * revenue. An ad often earns less than a cent: its own amount is what it adds to the rounded sum, so that the amounts of
 * all ads add up to it.
 */
export function adMoments(
  at: At,
  { id, micros, properties }: SeenAd,
  all: { count: number; micros: number },
): Occurrence[] {
  const cents = centsOf(all.micros);
  const view = { ...PLAIN, ...at, count: all.count, properties };
  return [
    { ...view, moment: "ad_view", cents },
    { ...view, moment: "each_ad", cents: cents - centsOf(all.micros - micros), ownSubject: id },
  ];
}

function centsOf(micros: number): number {
  return roundHalfAway(micros / 10_000);
}
