import { isObject, type JsonObject, type JsonValue } from "../json.ts";

export const PROPERTY_OPERATORS = ["equal", "not_equal", "between", "inner", "is_set", "not_set"] as const;

/** A test on a property, as in `property_condition`: `user$…` is of the user, `event$…` of the event or order. */
export type PropertyTest = {
  field: string;
  operator: (typeof PROPERTY_OPERATORS)[number];
  values: readonly JsonValue[];
};

const FIELD = /^(user|event)\$([A-Za-z][A-Za-z0-9_]{0,49})$/;

/**
 * Figures of users and orders, which the lists show under the same kind of name. They are not properties: their value
 * at the time of a past event is not kept, and amount and count have conditions of their own.
 */
export const FIGURE_FIELDS: ReadonlySet<string> = new Set(
  [
    ...["ad_24h_avg_ecpm", "ad_24h_count", "ad_24h_ltv", "ad_avg_ecpm", "ad_count", "ad_ltv", "ad_max_ecpm", "city"],
    ...["country", "province", "first_pay_method", "first_pay_reason", "first_pay_time", "interstitial_ad_24_ltv"],
    ...["interstitial_ad_count", "interstitial_ad_ltv", "interstitial_ad_max_ecpm", "pay_amount_sum", "pay_count"],
    ...["pay_max_amount", "reward_ad_24h_ltv", "reward_ad_count", "reward_ad_ltv", "reward_ad_max_ecpm"],
  ]
    .map((name) => `user$${name}`)
    .concat("event$is_first_pay"),
);

/** What is wrong with a test, or undefined when it is valid. */
export function propertyTestProblem(test: unknown): string | undefined {
  if (!isObject(test as JsonValue)) return "A property test is an object of field, operator and values.";
  const { field, operator, values } = test as Record<string, unknown>;
  if (typeof field !== "string" || !FIELD.test(field)) return "field must look like user$level or event$product.";
  if (FIGURE_FIELDS.has(field)) return `${field} is a figure, not a property; use the rule's own conditions.`;
  if (!(PROPERTY_OPERATORS as readonly unknown[]).includes(operator))
    return `operator must be one of ${PROPERTY_OPERATORS.join(", ")}.`;
  if (!Array.isArray(values)) return "values must be a list.";
  if (["equal", "not_equal"].includes(operator as string) && values.length !== 1) return `${operator} takes one value.`;
  if (operator === "inner" && values.length === 0) return "inner takes at least one value.";
  const isPair =
    values.length === 2 && typeof values[0] === typeof values[1] && ["number", "string"].includes(typeof values[0]);
  if (operator === "between" && !isPair) return "between takes two numbers, or two texts.";
  return undefined;
}

/** Applies a test by the rules of the lists' `property_condition`. A preset property is named without its `$`. */
export function matchesProperty(test: PropertyTest, of: { user: JsonObject; event: JsonObject }): boolean {
  const [, kind, name] = FIELD.exec(test.field) ?? [];
  if (kind === undefined || name === undefined) return false;
  const properties = kind === "user" ? of.user : of.event;
  const found = ownValue(properties, `$${name}`) ?? ownValue(properties, name);
  const value = found?.value;
  const isSet = value !== undefined && value !== null && value !== "";
  switch (test.operator) {
    case "is_set":
      return isSet;
    case "not_set":
      return !isSet;
    case "equal":
    case "inner":
      return test.values.some((one) => isSame(one, value));
    case "not_equal":
      return !isSame(test.values[0], value);
    case "between": {
      const [from, to] = test.values;
      if (typeof value === "number" && typeof from === "number" && typeof to === "number")
        return value >= from && value <= to;
      if (typeof value !== "string" || typeof from !== "string" || typeof to !== "string") return false;
      return !isBefore(value, from) && !isBefore(to, value);
    }
  }
}

/** The value, or undefined when there is none. An existing null counts as a value, so the other name is not tried. */
function ownValue(properties: JsonObject, name: string): { value: JsonValue } | undefined {
  return Object.hasOwn(properties, name) ? { value: properties[name]! } : undefined;
}

function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return left !== undefined && right !== undefined && canonical(left) === canonical(right);
}

/** A value as text with sorted keys, because the keys of an object have no order. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name]!)}`).join()}}`;
}

/** Compares by bytes, as the database does. JavaScript compares UTF-16 units, which sorts some texts differently. */
function isBefore(left: string, right: string): boolean {
  return Buffer.compare(Buffer.from(left), Buffer.from(right)) < 0;
}
