import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { emptyData, envelopeSchema } from "../envelope.ts";
import { choice } from "../fields.ts";
import { dateList } from "./question.ts";
import { savedRef, segment, shownCondition } from "./segment.ts";

const appId = Type.Integer({ minimum: 1, description: "Application id" });
const segmentId = Type.Integer({ minimum: 1, maximum: LIMITS.tableInteger, description: "Id of the segment" });
const name = Type.String({
  minLength: 1,
  maxLength: LIMITS.segmentNameLength,
  description: "Name; an app has each once",
});

export const segmentSaveBody = Type.Object({
  app_id: appId,
  segment_id: Type.Optional({ ...segmentId, description: "The segment to replace; absent: a new one is created" }),
  name,
  condition: {
    ...segment,
    description: "A condition, or parts joined by `and` or `or`; none of them may name a saved segment",
  },
});

export const segmentRenameBody = Type.Object({ app_id: appId, segment_id: segmentId, name });

export const segmentRemoveBody = Type.Object({
  app_id: appId,
  segment_id: segmentId,
  even_if_used: Type.Optional(
    Type.Boolean({ description: "Remove it even if saved views use it; their questions are refused from then on" }),
  ),
});

const savedSegment = Type.Object({
  segment_id: segmentId,
  name,
  condition: shownCondition,
  owner: Type.String({ description: "Who saved it" }),
  views: Type.Integer({ description: "How many saved views use it, those of others too" }),
  may_change: Type.Boolean({ description: "Whether the caller may change or remove it" }),
  changed_at: Type.Integer({ description: "Milliseconds" }),
});
export type ShownSegment = Static<typeof savedSegment>;
export const savedSegmentAnswer = envelopeSchema(savedSegment);

const savedSegments = Type.Object({ segments: Type.Array(savedSegment, { description: "By name" }) });
export type ShownSegments = Static<typeof savedSegments>;
export const savedSegmentsAnswer = envelopeSchema(savedSegments);

export const segmentRemovedAnswer = envelopeSchema(emptyData);

/** In lists and exports, conditions without days of their own are about so many days up to today. */
export const SEGMENT_DAYS = 30;

const days = {
  ...dateList,
  description:
    "The days of conditions that have none of their own; `last_days` reach back from the last one. " +
    `Absent: the ${SEGMENT_DAYS} days up to today`,
};

/** The users of a segment as a filter of a list. */
export const segmentFiltering = Type.Object(
  { segment: savedRef, date_list: Type.Optional(days) },
  { description: `Only users of a saved segment, which has at most ${LIMITS.segmentUsers}` },
);
export type SegmentFiltering = Static<typeof segmentFiltering>;

export const SEGMENT_EXPORTS = ["clients", "devices"] as const;

export const segmentExportBody = Type.Object({
  app_id: appId,
  segment: savedRef,
  date_list: Type.Optional(days),
  kind: choice(SEGMENT_EXPORTS, "`clients`: client ids; `devices`: the ids of their devices, for users who have any"),
  format: Type.Optional(choice(["ndjson", "csv"], "Default ndjson")),
});
export type SegmentExportBody = Static<typeof segmentExportBody>;
