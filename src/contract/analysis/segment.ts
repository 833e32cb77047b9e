import { Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";
import { type Condition, type Join, treeOf, userCondition } from "./condition.ts";
import { dateList, type NumberOf, numberFields, type Source, sourceFields } from "./question.ts";

/** Which users a question is about. */
export const SEGMENT_MEASURES = ["count", "days", "sum"] as const;
export const COMPARISONS = ["equal", "less", "at_most", "greater", "at_least", "between"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** When: in a range, in so many days up to the question's last day, or, without either, in the question's range. */
export type Within = { date_list?: readonly string[]; last_days?: number };

export type Did = Source &
  Within &
  NumberOf & {
    kind: "did";
    measure: (typeof SEGMENT_MEASURES)[number];
    operator: Comparison;
    values: readonly number[];
  };
export type DidNot = Source & Within & { kind: "did_not" };
export type UserTest = Condition & { kind: "user" };
export type Registered = Within & { kind: "registered" };
/** The users of a saved segment, by its id or its name. */
export type SavedRef = number | string;
export type Saved = { kind: "saved"; segment: SavedRef };
export type SegmentCondition = Did | DidNot | UserTest | Registered | Saved;
export type Segment = SegmentCondition | { join: Join; parts: readonly Segment[] };

const within = {
  date_list: Type.Optional(dateList),
  last_days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.analysisDays,
      description: "The last days up to the last day of the question. Without it and `date_list`: the question's days",
    }),
  ),
};

const kind = <Kind extends string>(name: Kind, description: string) =>
  Type.Unsafe<Kind>({ type: "string", enum: [name], description });

const did = Type.Object({
  kind: kind("did", "At least one matching event or order, and a number of them that compares as asked"),
  ...sourceFields,
  ...within,
  measure: choice(SEGMENT_MEASURES, "Of a user's matching rows: how many, on how many days, or the sum of a number"),
  ...numberFields,
  operator: choice(COMPARISONS, "How to compare"),
  values: Type.Array(Type.Number(), { minItems: 1, maxItems: 2, description: "One number; two for `between`" }),
});

const didNot = Type.Object({ kind: kind("did_not", "No matching event or order"), ...sourceFields, ...within });

const user = Type.Object({
  kind: kind("user", "A property of the profile, or a dimension of the user"),
  ...userCondition.properties,
});

const registered = Type.Object({ kind: kind("registered", "Registered in these days"), ...within });

export const savedRef = Type.Unsafe<SavedRef>({
  type: ["integer", "string"],
  minimum: 1,
  maximum: LIMITS.tableInteger,
  minLength: 1,
  maxLength: LIMITS.segmentNameLength,
  description: "Id of a saved segment, as a number; or its name, as a text",
});

const saved = Type.Object({ kind: kind("saved", "A user of a saved segment"), segment: savedRef });

const leaf = Type.Unsafe<SegmentCondition>({ anyOf: [did, didNot, user, registered, saved] });

export const segment = Type.Unsafe<Segment>({
  ...treeOf(leaf, LIMITS.analysisDepth),
  description: "Only these users: a condition, or parts joined by `and` or `or`",
});

/** In answers, where the whole schema would be of no more use. */
export const shownCondition = Type.Unsafe<Segment>({ type: "object", description: "The condition, as it was saved" });

export const segmentQuestion = Type.Object({
  date_list: dateList,
  segment,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.analysisUsers,
      description: `Most client ids in the answer; default and at most ${LIMITS.analysisUsers}`,
    }),
  ),
});
export type SegmentQuestion = { date_list: readonly string[]; segment: Segment; limit?: number };
