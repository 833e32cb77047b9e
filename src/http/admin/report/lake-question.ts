import type { FastifyRequest } from "fastify";
import { savedSegments } from "../../../admin/report/segments.ts";
import type { SegmentFiltering } from "../../../contract/analysis/saved-segment.ts";
import type { Segment } from "../../../contract/analysis/segment.ts";
import { ApiError } from "../../../errors.ts";
import type { LakeQuestion, LakeRows } from "../../../lake/asker.ts";
import { textOf } from "../../../report/analysis/duck-sql.ts";
import { segmentDays } from "../../../report/analysis/saved-segment.ts";
import { segmentClientsSql } from "../../../report/analysis/segment-sql.ts";
import { gatherClients } from "../../../report/list/segment-users.ts";
import type { AdminReportContext } from "./admin-report-context.ts";

export function lakeOf({ lake }: AdminReportContext): NonNullable<AdminReportContext["lake"]> {
  if (lake) return lake;
  throw new ApiError("badParameter", "This server has no lake: ask one whose ROLES have `lake` (docs/LAKE.md).");
}

type Put = { appId: number } & Pick<LakeQuestion, "statement" | "byHand" | "rowsMax">;

/** Puts a question for as long as whoever asks is there. */
export function put(
  context: AdminReportContext,
  request: FastifyRequest,
  { appId, ...question }: Put,
): Promise<LakeRows> {
  return whilePresent(context, request, appId, (asked) => lakeOf(context).ask({ ...question, ...asked }));
}

type SegmentAsked = Omit<SegmentFiltering, "segment"> & { appId: number; condition: Segment };

/** Rows with all users of a segment, in pieces. */
export async function putSegment(
  context: AdminReportContext,
  request: FastifyRequest,
  { appId, condition, date_list }: SegmentAsked,
): Promise<AsyncIterable<LakeRows["rows"]>> {
  const lake = lakeOf(context);
  return whilePresent(context, request, appId, (asked) => {
    const days = segmentDays(date_list, { timeZone: asked.app.timeZone, nowMs: context.clock() });
    const statement = textOf(segmentClientsSql({ segment: condition, date_list: days }));
    return lake.askAll({ ...asked, statement });
  });
}

/** The users by whom a list is filtered; undefined: by none. */
export async function segmentClients(
  context: AdminReportContext,
  request: FastifyRequest,
  { app_id: appId, segment_filtering }: { app_id: number; segment_filtering?: SegmentFiltering },
): Promise<string[] | undefined> {
  if (!segment_filtering) return undefined;
  const { segment, date_list } = segment_filtering;
  // From the primary: it may have been saved a moment ago.
  const [saved] = await savedSegments(context.pool, { appId, wanted: [segment] });
  const asked = { appId, condition: saved!.condition as unknown as Segment, ...(date_list && { date_list }) };
  return gatherClients(await putSegment(context, request, asked), saved!.name);
}

type Present = Pick<LakeQuestion, "read" | "app" | "signal">;

async function whilePresent<T>(
  context: AdminReportContext,
  request: FastifyRequest,
  appId: number,
  ask: (asked: Present) => Promise<T>,
): Promise<T> {
  const app = await context.apps.findById(appId);
  const left = new AbortController();
  const leave = () => left.abort();
  request.raw.socket.once("close", leave);
  try {
    // From the primary: a replica that is behind would name files that are gone.
    return await ask({ read: context.pool, app, signal: left.signal });
  } finally {
    request.raw.socket.off("close", leave);
  }
}
