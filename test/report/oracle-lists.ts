import { isWantedIn, ordersOf } from "./oracle.ts";
import { dayOf } from "./oracle-days.ts";
import type { Asked, Market, Person } from "./oracle-market.ts";

/** A user of the list, with what the user has paid. */
export type ListedUser = {
  clientId: string;
  platform: string;
  registeredAtMs: number;
  paid: number;
  payments: number;
  greatest: number;
};
export type ListedOrder = { traceId: string; clientId: string; platform: string; receivedAtMs: number; cents: number };

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
    const { registeredAtMs } = person;
    return {
      clientId: clientIdOf(person),
      platform: platformOf(person),
      registeredAtMs,
      paid,
      payments: cents.length,
      greatest: Math.max(0, ...cents),
    };
  });
  const orders = people.flatMap((person) =>
    ordersOf(person).map(({ orderId, atMs, cents }) => ({
      traceId: orderId,
      clientId: clientIdOf(person),
      platform: platformOf(person),
      receivedAtMs: atMs,
      cents,
    })),
  );
  return { users, orders };
}

function platformOf(person: Person): string {
  return person.ad_platform || "natural";
}

/** In the order of code points, which for the names of a market is that of JavaScript. */
export function byText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
