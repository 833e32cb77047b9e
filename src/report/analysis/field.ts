import { ORDER_COLUMNS, USER_COLUMNS } from "../../contract/analysis/condition.ts";
import type { NumberOf, Source } from "../../contract/analysis/question.ts";
import { PROPERTY_NAME, propertyColumn } from "../../domain/lake-properties.ts";
import { column, type Duck, duck, named } from "./duck-sql.ts";
import { refused, shown } from "./refusal.ts";

/**
 * Fields of a row as expressions. Statements call the row of an event or order `e` and that of its user `u`. A client
 * without a row in users has empty texts.
 */
export type Field =
  | { kind: "event_name" }
  | { kind: "event"; name: string }
  | { kind: "user"; name: string }
  | { kind: "order"; name: (typeof ORDER_COLUMNS)[number] }
  | { kind: "column"; name: (typeof USER_COLUMNS)[number] };

/** Which fields there are: those of events, of orders, or of users alone. */
export type Scope = Source["source"] | "user";

export function readField(text: string, scope: Scope): Field {
  if (typeof text !== "string") throw refused(`${shown(text)} is not a field: name one as text.`);
  const [, kind, name = ""] = /^(event|user|order)\$(.*)$/s.exec(text) ?? [];
  if (kind === "event" || kind === "user") {
    const property = propertyName(name);
    if (kind === "event" && scope === "user") throw refused(`${shown(text)} is of an event: a user has user$… fields.`);
    return { kind, name: property };
  }
  if (kind === "order") {
    const column = ORDER_COLUMNS.find((one) => one === name);
    if (!column) throw refused(`${shown(text)} is not a column of orders: use one of ${ORDER_COLUMNS.join(", ")}.`);
    if (scope !== "order") throw refused(`${shown(text)} is a field of orders: ask for source order.`);
    return { kind, name: column };
  }
  if (text === "event" && scope !== "user") return { kind: "event_name" };
  const column = USER_COLUMNS.find((one) => one === text);
  if (!column)
    throw refused(`${shown(text)} is not a field: use event$…, user$…, order$… or one of ${USER_COLUMNS.join(", ")}.`);
  return { kind: "column", name: column };
}

/** Whether a field needs the user's row. */
export function isOfUser(field: Field): boolean {
  return field.kind === "user" || field.kind === "column";
}

/** The field as text, empty when it is not set. */
export function textField(field: Field, scope: Scope): Duck {
  switch (field.kind) {
    case "event_name":
      return scope === "order" ? duck`'order'` : duck`e.event`;
    case "event":
      return scope === "event"
        ? duck`coalesce(e.${column(propertyColumn(field.name))}, '')`
        : duck`coalesce(json_extract_string(e.properties, ${pathTo(field.name)}), '')`;
    case "user":
      return duck`coalesce(json_extract_string(u.properties, ${pathTo(field.name)}), '')`;
    case "order":
      return field.name === "currency"
        ? duck`coalesce(e.currency, '')`
        : duck`coalesce(cast(${orderColumn(field.name)} as varchar), '')`;
    case "column":
      return isText(field.name)
        ? duck`coalesce(u.${named(field.name)}, '')`
        : duck`coalesce(cast(u.${named(field.name)} as varchar), '')`;
  }
}

/** The field as a number; null when it is none, undefined when it never is. A text of digits is not a number. */
export function numberField(field: Field): Duck | undefined {
  switch (field.kind) {
    case "event":
    case "user":
      return duck`try_cast(${jsonField(field)!} as double)`;
    case "order":
      return field.name === "currency" || field.name === "is_virtual" ? undefined : orderColumn(field.name);
    case "column":
      return field.name === "version" ? duck`u.version` : undefined;
    case "event_name":
      return undefined;
  }
}

/** A property as JSON, in which only texts begin with a quote; undefined for columns. */
export function jsonField(field: Field): Duck | undefined {
  if (field.kind !== "event" && field.kind !== "user") return undefined;
  const row = field.kind === "event" ? duck`e` : duck`u`;
  return duck`cast(json_extract(${row}.properties, ${pathTo(field.name)}) as varchar)`;
}

/**
 * The number that a measure adds up, exactly: cents, or a property to six decimal places. Null when it is no number. A text
 * is read as a double first, which is what a number in JSON is: a question that reads it as such a decimal takes seven times as long.
 */
export function exactNumber({ property, amount }: NumberOf, scope: Scope): Duck {
  if (amount !== undefined) {
    if (property !== undefined) throw refused("Name a property or an amount, not both.");
    if (scope !== "order") throw refused("amount is of orders: ask for source order, or name a property.");
    const column = (["pay_cents", "refund_cents", "net_cents"] as const).find((one) => one === amount);
    if (!column) throw refused(`${shown(amount)} is not an amount: use pay_cents, refund_cents or net_cents.`);
    return orderColumn(column);
  }
  if (property === undefined) throw refused("This measure needs a number: name a property, or an amount of orders.");
  const double = numberField({ kind: "event", name: propertyName(property) })!;
  return duck`try_cast(${double} as decimal(38, 6))`;
}

function orderColumn(name: (typeof ORDER_COLUMNS)[number]): Duck {
  return name === "net_cents" ? duck`(e.pay_cents - e.refund_cents)` : duck`e.${named(name)}`;
}

function isText(name: (typeof USER_COLUMNS)[number]): boolean {
  return name !== "version" && name !== "registered_day" && name !== "cohort_day";
}

function propertyName(name: string): string {
  if (typeof name === "string" && PROPERTY_NAME.test(name)) return name;
  throw refused(
    `${shown(name)} is not a property: names have up to 50 letters, digits and _, and begin with a letter or $.`,
  );
}

/** A path to a property of the outermost object. The name in quotes is taken as it is, with a leading $ too. */
function pathTo(name: string): string {
  return `$."${name}"`;
}
