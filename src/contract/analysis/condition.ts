import { Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";

/** Conditions on events, orders and users, and the trees that join them. */
export const OPERATORS = [
  ...["equal", "not_equal", "contains", "starts_with", "is_set", "not_set", "is_true", "is_false"],
  ...["less", "at_most", "greater", "at_least", "between"],
] as const;
export type Operator =
  | "equal"
  | "not_equal"
  | "contains"
  | "starts_with"
  | "is_set"
  | "not_set"
  | "is_true"
  | "is_false"
  | "less"
  | "at_most"
  | "greater"
  | "at_least"
  | "between";

export const JOINS = ["and", "or"] as const;
export type Join = (typeof JOINS)[number];

/** Columns of a user by which questions are filtered and split, as reports show them. */
export const USER_COLUMNS = [
  ...["ad_platform", "advertiser_id", "gid", "aid", "creative", "csite", "channel", "os_platform"],
  ...["turbo_promoted_object_id", "version", "registered_day", "cohort_day"],
] as const;

/** Columns of an order. What is left of a payment after its refunds is `net_cents`. */
export const ORDER_COLUMNS = ["pay_cents", "refund_cents", "net_cents", "pay_count", "currency", "is_virtual"] as const;

export const FIELD_WORDS =
  "`event$NAME`: a property of the event or order; `user$NAME`: a property of the user's profile; `order$COLUMN`: a column " +
  `of an order (${ORDER_COLUMNS.join(", ")}); \`event\`: the event's name; or a dimension of the user: ${USER_COLUMNS.join(", ")}`;

export const field = Type.String({ minLength: 1, maxLength: 60, description: FIELD_WORDS });

export type Condition = { field: string; operator: Operator; values?: readonly (string | number)[] };
export type Filter = Condition | { join: Join; parts: readonly Filter[] };

const condition = Type.Object({
  field,
  operator: choice(
    OPERATORS as readonly Operator[],
    "`equal`: one of the values; `not_equal`: none of them. A value that is a text is compared with the text of the field (a " +
      "number as its digits, true and false as these words), one that is a number only with numbers. `contains`, " +
      "`starts_with`: one of the texts, upper and lower case differ. `less`, `at_most`, `greater`, `at_least`, and `between` " +
      "(both ends included) with numbers: a field that is not a number never matches; `between` also takes two texts. " +
      "`is_set`: neither missing nor null nor empty. `is_true`, `is_false`: only the values true and false match",
  ),
  values: Type.Optional(
    Type.Array(Type.Unsafe<string | number>({ type: ["string", "number"], maxLength: LIMITS.propertyTextBytes }), {
      maxItems: LIMITS.analysisValues,
      description: "What to compare with",
    }),
  ),
});

/** Trees have a fixed depth, because a schema that refers to itself cannot be shown in every viewer of OpenAPI. */
export function treeOf(leaf: Type.TSchema, depth: number): Type.TSchema {
  if (depth === 0) return leaf;
  const parts = Type.Array(treeOf(leaf, depth - 1), { minItems: 1, maxItems: LIMITS.analysisConditions });
  const join = choice(JOINS, "Whether all parts must hold, or at least one");
  return Type.Unsafe<unknown>({ anyOf: [leaf, Type.Object({ join, parts })] });
}

export const filter = Type.Optional(
  Type.Unsafe<Filter>({
    ...treeOf(condition, LIMITS.analysisDepth),
    description: "A condition, or parts joined by `and` or `or`; absent: everything",
  }),
);

export const userCondition = condition;
