import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";
import { field } from "./condition.ts";
import { dateList, groupText, type NumberOf, numberFields, type Source, sourceFields } from "./question.ts";
import { type Segment, segment } from "./segment.ts";

/**
 * Who comes back. A user is in the cohort of the day (or week, from Monday) of the first matching event in the range, and
 * returns in a period in which a matching event happens at or after it. Period 0 is the cohort's own day or week.
 */
export const RETENTION_STEPS = ["day", "week"] as const;
export const VALUE_MEASURES = ["count", "sum"] as const;

export type RetentionQuestion = {
  date_list: readonly string[];
  by: (typeof RETENTION_STEPS)[number];
  periods: number;
  first: Source;
  back: Source;
  value?: NumberOf & { measure: (typeof VALUE_MEASURES)[number] };
  split?: string;
  top?: number;
  segment?: Segment;
};

export const retentionQuestion = Type.Object({
  date_list: { ...dateList, description: "First and last day of the first event" },
  by: choice(RETENTION_STEPS, "Periods of a day, or of a week from Monday"),
  periods: Type.Integer({
    minimum: 1,
    maximum: LIMITS.retentionPeriods,
    description: "How many periods after the cohort's own are counted",
  }),
  first: Type.Object(sourceFields, { description: "The event or order with which a user enters a cohort" }),
  back: Type.Object(sourceFields, { description: "The event or order with which a user returns" }),
  value: Type.Optional(
    Type.Object(
      {
        measure: choice(VALUE_MEASURES, "How many times users return, or the sum of a number of what they return with"),
        ...numberFields,
      },
      { description: "Also a value per user of the cohort, such as lifetime value" },
    ),
  ),
  split: Type.Optional({ ...field, description: "A field at the first event by which users are split" }),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.analysisGroups,
      description: "How many groups are shown: those with the most users; the others are one. Default 10",
    }),
  ),
  segment: Type.Optional(segment),
});

const cohortFields = {
  users: Type.Integer({ description: "Users of the cohort" }),
  returned: Type.Array(Type.Integer(), { description: "Those of them who returned, for period 0 and each after it" }),
  values: Type.Optional(Type.Array(Type.Number(), { description: "The value in each period" })),
  per_user: Type.Optional(
    Type.Array(Type.Unsafe<number | null>({ type: ["number", "null"] }), {
      description: "The values up to each period, by the users of the cohort; null without any",
    }),
  ),
};

const group = Type.Object({
  kind: choice(["all", "group", "other"], "All users, those with a value, or those with values that are not shown"),
  group: groupText,
  total: Type.Object(cohortFields, { description: "All cohorts together" }),
  cohorts: Type.Array(
    Type.Object({ cohort: Type.String({ description: "The day, or the week's Monday, YYYY-MM-DD" }), ...cohortFields }),
  ),
});
export type RetentionGroup = Static<typeof group>;

export const retentionAnswer = Type.Object({ groups: Type.Array(group, { description: "All users first" }) });
export type RetentionAnswer = Static<typeof retentionAnswer>;

export const retentionCell = Type.Object({
  cohort: Type.Optional(Type.String({ description: "One of the cohorts; absent: all" })),
  period: Type.Optional(
    Type.Integer({ minimum: 0, description: "Who returned in it; absent: all users of the cohort" }),
  ),
  kind: choice(["all", "group", "other"], "Which of the groups"),
  group: Type.Optional(groupText),
});
export type RetentionCell = Static<typeof retentionCell>;
