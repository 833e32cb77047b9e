import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";
import { field } from "./condition.ts";
import { dateList, groupText, type NumberOf, numberFields, type Source, sourceFields } from "./question.ts";
import { type Segment, segment } from "./segment.ts";

/** How many, by what: events and orders over time. */
export const MEASURES = ["count", "users", "per_user", "sum", "average", "percentile"] as const;
export type Measure = (typeof MEASURES)[number];

export const STEPS = ["hour", "day", "week", "month", "total"] as const;
export type Step = (typeof STEPS)[number];

export type Series = Source & NumberOf & { measure: Measure; percent?: number };

export type EventsQuestion = {
  date_list: readonly string[];
  by: Step;
  series: readonly Series[];
  formulas?: readonly string[];
  split?: readonly string[];
  top?: number;
  compare_date?: string;
  segment?: Segment;
};

const series = Type.Object({
  ...sourceFields,
  measure: choice(
    MEASURES,
    "`count`: rows; `users`: different users; `per_user`: rows by users; `sum`, `average`, `percentile`: of a number",
  ),
  ...numberFields,
  percent: Type.Optional(
    Type.Number({
      minimum: 0.1,
      maximum: 99.9,
      description:
        "For `percentile`, in tenths: the smallest value that at least this share of all values does not exceed",
    }),
  ),
});

export const eventsQuestion = Type.Object({
  date_list: dateList,
  by: choice(STEPS, "`hour` (at most 31 days), `day`, `week` (from Monday), `month`, or `total`: the whole range only"),
  series: Type.Array(series, {
    minItems: 1,
    maxItems: LIMITS.analysisSeries,
    description: "Named A, B, C … in this order",
  }),
  formulas: Type.Optional(
    Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "Such as `A / B * 100`: letters of series, numbers, + - * / and parentheses",
      }),
      { maxItems: LIMITS.analysisSeries },
    ),
  ),
  split: Type.Optional(Type.Array(field, { maxItems: 2, description: "Fields by which every series is split" })),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.analysisGroups,
      description:
        "How many groups are shown: those with the greatest total of series A; the others are one. Default 10",
    }),
  ),
  compare_date: Type.Optional(
    Type.String({ description: "First day of an earlier range of the same length, YYYY-MM-DD" }),
  ),
  segment: Type.Optional(segment),
});

const value = Type.Unsafe<number | null>({ type: ["number", "null"] });
const values = {
  total: { ...value, description: "Over the whole range, in which a user counts once" },
  values: Type.Array(value, { description: "One for each of `buckets`; null: there is nothing to divide by" }),
};

const line = Type.Object({
  name: Type.String({ description: "Letter of the series, or text of the formula" }),
  group: Type.Array(groupText, { description: "One for each field of `split`; empty for the other groups" }),
  is_other: Type.Boolean({ description: "Whether this is the sum of the groups that are not shown" }),
  ...values,
  earlier: Type.Optional(Type.Object(values, { description: "The same in the earlier range" })),
});
export type EventsLine = Static<typeof line>;

export const eventsAnswer = Type.Object({
  buckets: Type.Array(Type.String(), {
    description: "YYYY-MM-DD HH:00, YYYY-MM-DD (a week's Monday) or YYYY-MM; empty for `total`",
  }),
  earlier_buckets: Type.Optional(Type.Array(Type.String(), { description: "The same of the earlier range" })),
  lines: Type.Array(line, { description: "By group, then series in their order, then formulas" }),
});
export type EventsAnswer = Static<typeof eventsAnswer>;

/** A number in the answer: of one series, in one bucket or the whole range, of one group or all others. */
export const eventsCell = Type.Object({
  series: Type.Integer({ minimum: 0, description: "Index of the series" }),
  bucket: Type.Optional(Type.String({ description: "One of `buckets`; absent: the whole range" })),
  group: Type.Optional(
    Type.Array(groupText, { description: "The line's `group`; absent with `is_other` or no split" }),
  ),
  is_other: Type.Optional(Type.Boolean()),
  is_earlier: Type.Optional(Type.Boolean({ description: "Whether it is in the earlier range" })),
});
export type EventsCell = Static<typeof eventsCell>;
