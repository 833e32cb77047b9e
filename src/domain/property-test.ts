import { isObject, type JsonObject, type JsonValue } from "./json.ts";

export const PROPERTY_OPERATORS = ["equal", "not_equal", "between", "inner", "is_set", "not_set"] as const;

/** A test on a property, as in `property_condition`: `user$…` of the user, `event$…` of the event or order. */
export type PropertyTest = {
  field: string;
  operator: (typeof PROPERTY_OPERATORS)[number];
  values: readonly JsonValue[];
};

const FIELD = /^(user|event)\$([A-Za-z][A-Za-z0-9_]{0,49})$/;

/** Undefined: it is one. Otherwise what is wrong with it. */
export function propertyTestProblem(test: unknown): string | undefined {
  if (!isObject(test as JsonValue)) return "A property test is an object of field, operator and values.";
  const { field, operator, values } = test as Record<string, unknown>;
  if (typeof field !== "string" || !FIELD.test(field)) return "field must look like user$level or event$product.";
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

/** The same rules as in the lists' `property_condition`. A preset property is called by its name without the `$`. */
export function matchesProperty(test: PropertyTest, of: { user: JsonObject; event: JsonObject }): boolean {
  const [, kind, name] = FIELD.exec(test.field) ?? [];
  if (kind === undefined || name === undefined) return false;
  const properties = kind === "user" ? of.user : of.event;
  const value = properties[`$${name}`] ?? properties[name];
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
      return (
        typeof value === "string" && typeof from === "string" && typeof to === "string" && value >= from && value <= to
      );
    }
  }
}

function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
