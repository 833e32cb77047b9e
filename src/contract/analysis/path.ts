import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";
import { type Filter, filter } from "./condition.ts";
import { dateList } from "./question.ts";
import { type Segment, segment } from "./segment.ts";

/**
 * What follows or precedes an event. A session is a row of a user's events in the range, without changes of profiles, none
 * of which is later than the one before by more than the gap. Events in the same millisecond are ordered by name, then by
 * id. A session counts once: from its first matching event on, or back from its last.
 */
export const DIRECTIONS = ["after", "before"] as const;

export type PathQuestion = {
  date_list: readonly string[];
  event: string;
  filter?: Filter;
  direction: (typeof DIRECTIONS)[number];
  gap_minutes: number;
  levels: number;
  top?: number;
  segment?: Segment;
};

export const pathQuestion = Type.Object({
  date_list: dateList,
  event: Type.String({ minLength: 1, maxLength: 256, description: "Name of the event where paths begin" }),
  filter,
  direction: choice(DIRECTIONS, "What follows the event, or what precedes it"),
  gap_minutes: Type.Integer({
    minimum: 1,
    maximum: LIMITS.pathGapMinutes,
    description: "A session ends where nothing happens for longer than this",
  }),
  levels: Type.Integer({ minimum: 1, maximum: LIMITS.pathLevels, description: "How many events away are shown" }),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.pathTop,
      description: "How many events of each level are shown: the most frequent; the others are one. Default 5",
    }),
  ),
  segment: Type.Optional(segment),
});

const eventFields = {
  event: Type.String({ description: "Name of the event; empty for the others" }),
  is_other: Type.Boolean({ description: "Whether these are the events that are not shown" }),
};

export const pathAnswer = Type.Object({
  nodes: Type.Array(
    Type.Object({
      level: Type.Integer({ description: "How many events away; 0 is the event itself" }),
      ...eventFields,
      sessions: Type.Integer(),
      ended: Type.Integer({ description: "Sessions in which nothing more happened on this side; 0 at the last level" }),
    }),
    { description: "By level, most frequent first, the others last" },
  ),
  links: Type.Array(
    Type.Object({
      level: Type.Integer({ description: "Level of `from`; `to` is one level further away" }),
      from: Type.Object(eventFields),
      to: Type.Object(eventFields),
      sessions: Type.Integer(),
    }),
    { description: "In the order of their nodes" },
  ),
});
export type PathAnswer = Static<typeof pathAnswer>;

/** A node, or with `to` a link. */
export const pathCell = Type.Object({
  level: Type.Integer({ minimum: 0 }),
  event: Type.String({ description: "Name of an event that is shown" }),
  to: Type.Optional(Type.String({ description: "Name of the event one level further away" })),
});
export type PathCell = Static<typeof pathCell>;
