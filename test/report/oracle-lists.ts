import { accountOf, activeDays, isWantedIn, ordersOf } from "./oracle.ts";
import { dayOf } from "./oracle-days.ts";
import type { Asked, Market, Person } from "./oracle-market.ts";

/** What both lists can be sorted by. */
export type Identity = {
  clientId: string;
  platform: string;
  registeredAtMs: number;
  channel: string;
  version: number;
  campaign: string;
  openId: string;
  account: string;
  aid: string;
};

/** A user of the list, with the last day of activity and what the user has paid. */
export type ListedUser = Identity & { lastDay: string; paid: number; payments: number; greatest: number };
export type ListedOrder = Identity & { traceId: string; receivedAtMs: number; cents: number };

/**
 * Who and what is in the lists by their definitions, from what happened, in no order. The days of the question are those of
 * the registration.
 */
export function expectedLists(
  market: Market,
  asked: Asked,
  clientIdOf: (person: Person) => string,
): { users: ListedUser[]; orders: ListedOrder[] } {
  const people = market.people.filter((person) => {
    const day = dayOf(person.registeredAtMs, market.timeZone);
    return !person.isErased && day >= asked.fromDay && day <= asked.toDay && isWantedIn(market, asked, person);
  });
  const users = people.map((person) => {
    const cents = ordersOf(person).map((order) => order.cents);
    const paid = cents.reduce((sum, one) => sum + one, 0);
    return {
      ...identityOf(market, person, clientIdOf(person)),
      lastDay: [...activeDays(market, person)].sort().at(-1)!,
      paid,
      payments: cents.length,
      greatest: Math.max(0, ...cents),
    };
  });
  const orders = people.flatMap((person) =>
    ordersOf(person).map(({ orderId, atMs, cents }) => ({
      ...identityOf(market, person, clientIdOf(person)),
      traceId: orderId,
      receivedAtMs: atMs,
      cents,
    })),
  );
  return { users, orders };
}

function identityOf(market: Market, person: Person, clientId: string): Identity {
  const { registeredAtMs, channel, version, turbo_promoted_object_id: campaign, openId, aid } = person;
  const platform = person.ad_platform || "natural";
  return {
    clientId,
    platform,
    registeredAtMs,
    channel,
    version,
    campaign,
    openId,
    account: accountOf(market, person),
    aid,
  };
}

/** In the order of code points, which for the names of a market is that of JavaScript. */
export function byText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
