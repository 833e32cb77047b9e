import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";
import { field } from "./condition.ts";
import { dateList, groupText, type Source, sourceFields } from "./question.ts";
import { type Segment, segment } from "./segment.ts";

/**
 * How many users take steps in order. An entry is an event of the first step in the range; from it, each further step is the
 * first matching event after the one before, within the window that begins at the entry. A user counts once: with the
 * entry that gets furthest, and the earliest of those.
 *
 * Where all steps are different events, two of them may happen in the same millisecond, because clients stamp what belongs
 * together with one time. As soon as two steps could be one event (they have the same name, or one takes any event, or both
 * are orders), every step must be strictly later than the one before, so that no event is two steps.
 */
export type FunnelQuestion = {
  date_list: readonly string[];
  steps: readonly Source[];
  window_minutes: number;
  split?: string;
  top?: number;
  segment?: Segment;
};

export const funnelQuestion = Type.Object({
  date_list: {
    ...dateList,
    description: "First and last day of the first step; later steps may follow within the window",
  },
  steps: Type.Array(Type.Object(sourceFields), {
    minItems: 2,
    maxItems: LIMITS.funnelSteps,
    description: "In order. A user counts once, with the entry that gets furthest",
  }),
  window_minutes: Type.Integer({
    minimum: 1,
    maximum: LIMITS.funnelMinutes,
    description: "All steps happen within so many minutes after the first",
  }),
  split: Type.Optional({ ...field, description: "A field at the first step by which users are split" }),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.analysisGroups,
      description: "How many groups are shown: those with the most users; the others are one. Default 10",
    }),
  ),
  segment: Type.Optional(segment),
});

const figure = (description: string) => Type.Unsafe<number | null>({ type: ["number", "null"], description });

const step = Type.Object({
  users: Type.Integer({ description: "Users who reached this step" }),
  dropped: Type.Integer({ description: "Those of them who did not reach the next; 0 for the last" }),
  conversion: figure("Share of the users of the first step; null without any"),
  step_conversion: figure("Share of the users of the step before; null without any"),
  average_ms: figure("Average time since the step before; null for the first, or without users"),
  median_ms: figure("The smallest time that at least half of the users did not exceed"),
});

const group = Type.Object({
  kind: choice(["all", "group", "other"], "All users, those with a value, or those with values that are not shown"),
  group: groupText,
  steps: Type.Array(step),
});

export const funnelAnswer = Type.Object({ groups: Type.Array(group, { description: "All users first" }) });
export type FunnelAnswer = Static<typeof funnelAnswer>;

export const FUNNEL_ENDS = ["reached", "dropped"] as const;

export const funnelCell = Type.Object({
  step: Type.Integer({ minimum: 0, description: "Index of the step" }),
  end: choice(FUNNEL_ENDS, "Who reached the step, or who reached it and not the next"),
  kind: choice(["all", "group", "other"], "Which of the groups"),
  group: Type.Optional(groupText),
});
export type FunnelCell = Static<typeof funnelCell>;
