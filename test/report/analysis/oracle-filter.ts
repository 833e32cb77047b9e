import type { Condition, Filter } from "../../../src/contract/analysis/condition.ts";
import type { NumberOf, Source } from "../../../src/contract/analysis/question.ts";
import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import { dayOf } from "../oracle-days.ts";
import { byBytes } from "./luck.ts";
import type { Event, Market, Order, User } from "./market.ts";

/** An event or an order, with its day and user. */
export type Fact = {
  client: string;
  ms: number;
  day: string;
  event: Event | undefined;
  order: Order | undefined;
  user: User | undefined;
};

/** All events, then all orders. */
export function factsOf(market: Market): Fact[] {
  const users = new Map(market.users.map((user) => [user.client, user]));
  const fact = (of: Event | Order) => ({
    client: of.client,
    ms: of.ms,
    day: dayOf(of.ms, market.zone),
    user: users.get(of.client),
  });
  return [
    ...market.events.map((event): Fact => ({ ...fact(event), event, order: undefined })),
    ...market.orders.map((order): Fact => ({ ...fact(order), event: undefined, order })),
  ];
}

/** Whether a source reads this row. */
export function isOfSource(source: Source, fact: Fact, market: Market): boolean {
  if (source.source === "order" ? !fact.order : !fact.event) return false;
  if (fact.event && source.event === undefined && fact.event.type !== "track") return false;
  if (source.event !== undefined && fact.event?.event !== source.event) return false;
  return source.filter === undefined || holds(source.filter, fact, market);
}

export function holds(filter: Filter, fact: Fact, market: Market): boolean {
  if ("join" in filter) {
    const parts = filter.parts.map((part) => holds(part, fact, market));
    return filter.join === "and" ? parts.every(Boolean) : parts.some(Boolean);
  }
  return conditionHolds(filter, valueOfField(filter.field, fact, market));
}

export function conditionHolds({ operator, values = [] }: Condition, value: JsonValue | undefined): boolean {
  const text = textOfValue(value);
  const number = typeof value === "number" ? value : Number.NaN;
  const [first, second] = values;
  switch (operator) {
    case "is_set":
      return text !== "";
    case "not_set":
      return text === "";
    case "is_true":
      return value === true;
    case "is_false":
      return value === false;
    case "equal":
      return values.some((one) => one === (typeof one === "number" ? number : text));
    case "not_equal":
      return values.every((one) => one !== (typeof one === "number" ? number : text));
    case "contains":
      return values.some((one) => text.includes(String(one)));
    case "starts_with":
      return values.some((one) => text.startsWith(String(one)));
    case "less":
      return number < Number(first);
    case "at_most":
      return number <= Number(first);
    case "greater":
      return number > Number(first);
    case "at_least":
      return number >= Number(first);
    case "between":
      if (typeof first === "number") return number >= first && number <= Number(second);
      return text !== "" && byBytes(text, String(first)) >= 0 && byBytes(text, String(second)) <= 0;
  }
}

/** What a field holds. A column of the user or the order is a value of JSON here, like a property. */
export function valueOfField(field: string, { event, order, user }: Fact, market: Market): JsonValue | undefined {
  const [, kind, name = ""] = /^(event|user|order)\$(.*)$/.exec(field) ?? [];
  if (kind === "event") return own((event ?? order)?.properties, name);
  if (kind === "user") return own(user?.properties, name);
  if (kind === "order") return order && orderColumn(order, name);
  if (field === "event") return order ? "order" : event?.event;
  return user && userColumn(user, field, market);
}

function own(properties: JsonObject | undefined, name: string): JsonValue | undefined {
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function orderColumn(order: Order, name: string): JsonValue | undefined {
  const columns: Record<string, JsonValue> = {
    pay_cents: order.payCents,
    refund_cents: order.refundCents,
    net_cents: order.payCents - order.refundCents,
    pay_count: order.payCount,
    currency: order.currency,
    is_virtual: order.isVirtual,
  };
  return columns[name];
}

function userColumn(user: User, name: string, { zone }: Market): JsonValue | undefined {
  if (name === "version") return user.version;
  if (name === "registered_day") return dayOf(user.registeredMs, zone);
  if (name === "cohort_day") return dayOf(user.touchedMs ?? user.registeredMs, zone);
  return user.columns[name as keyof User["columns"]];
}

/** A value as splits show it: empty when it is not set. */
export function textOfValue(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export const SCALE = 10n ** 6n;

/** The number that a measure adds up, in units of 1 / SCALE. */
export function exactOf({ property, amount }: NumberOf, fact: Fact): bigint | undefined {
  const { order, event } = fact;
  if (amount !== undefined) return order && BigInt(Number(orderColumn(order, amount))) * SCALE;
  const value = own((event ?? order)?.properties, property!);
  if (typeof value !== "number") return undefined;
  // A number has some sixteen digits: six decimal places of one above nine billion are not all its own.
  const digits = BigInt(Math.round(Math.abs(value) * 1e6));
  return value < 0 ? -digits : digits;
}

export function numberOfExact(exact: bigint): number {
  const digits = (exact < 0n ? -exact : exact).toString().padStart(7, "0");
  return Number(`${exact < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`);
}
