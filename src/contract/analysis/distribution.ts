import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";
import { dateList, type NumberOf, numberFields, type Source, sourceFields } from "./question.ts";
import { type Segment, segment } from "./segment.ts";

/** How often, on how many days, or for how much: users by a number of each of them. */
export const DISTRIBUTION_MEASURES = ["times", "days", "sum"] as const;

export type DistributionQuestion = Source &
  NumberOf & {
    date_list: readonly string[];
    measure: (typeof DISTRIBUTION_MEASURES)[number];
    edges?: readonly number[];
    segment?: Segment;
  };

export const distributionQuestion = Type.Object({
  date_list: dateList,
  ...sourceFields,
  measure: choice(
    DISTRIBUTION_MEASURES,
    "Of each user's rows: how many, on how many days, or the sum of a number. Users without a row, or without the number, " +
      "are not counted",
  ),
  ...numberFields,
  edges: Type.Optional(
    Type.Array(Type.Number(), {
      minItems: 1,
      maxItems: LIMITS.distributionEdges,
      description:
        "Where buckets begin, in ascending order; one more is below the first. Absent: 1, 2, 3, 4, 5, 6, 11, 21, 51, 101 … " +
        "for times and days, 0, 1, 2, 5, 10, 20 … for sums, without the empty buckets at both ends",
    }),
  ),
  segment: Type.Optional(segment),
});

const bound = (description: string) => Type.Unsafe<number | null>({ type: ["number", "null"], description });

export const distributionAnswer = Type.Object({
  users: Type.Integer(),
  average: bound("Null without users"),
  median: bound("The smallest value that at least half of the users do not exceed"),
  least: bound("The smallest value"),
  greatest: bound("The greatest value"),
  buckets: Type.Array(
    Type.Object({
      from: bound("The least value of the bucket; null: no limit"),
      until: bound("The value that is too large for it; null: no limit"),
      users: Type.Integer(),
    }),
  ),
});
export type DistributionAnswer = Static<typeof distributionAnswer>;

export const distributionCell = Type.Object({
  from: Type.Optional(bound("As in the bucket; both absent: all users")),
  until: Type.Optional(bound("As in the bucket")),
});
export type DistributionCell = Static<typeof distributionCell>;
