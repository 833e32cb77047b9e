import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  beginSegmentExport,
  listSegments,
  removeSegment,
  renameSegment,
  saveSegment,
  shownSegment,
} from "../../../admin/report/segments.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  savedSegmentAnswer,
  savedSegmentsAnswer,
  segmentExportBody,
  segmentRemoveBody,
  segmentRemovedAnswer,
  segmentRenameBody,
  segmentSaveBody,
} from "../../../contract/analysis/saved-segment.ts";
import { exportSegment } from "../../../report/list/segment-users.ts";
import { adminRoute, adminStreamRoute } from "../admin-route.ts";
import type { AdminReportContext } from "./admin-report-context.ts";
import { lakeOf, putSegment } from "./lake-question.ts";
import { ROWS, type RowStreams } from "./row-stream.ts";

/** Saved segments: everybody who may ask about events uses them; their owners and admins change them. */
export function segmentRoutes(routes: FastifyInstance, context: AdminReportContext, streams: RowStreams): void {
  const { pool, apps } = context;

  adminRoute(routes, {
    path: "segments",
    summary: "Saved segments",
    access: "detail",
    query: appIdQuery,
    answer: savedSegmentsAnswer,
    run: async ({ query, request }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return { segments: await listSegments(pool, { appId, ...request.actor }) };
    },
  });
  changeRoutes(routes, context);
  exportRoute(routes, context, streams);
}

function changeRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  adminRoute(routes, {
    path: "segments/save",
    summary: "Save a segment",
    description: "The owner and admins replace one; everybody may save a new one.",
    access: "detail",
    body: segmentSaveBody,
    answer: savedSegmentAnswer,
    run: async ({ body, request }) => shownSegment(await saveSegment(deskOf(context, request), body), request.actor),
  });

  adminRoute(routes, {
    path: "segments/rename",
    summary: "Rename a segment",
    access: "detail",
    body: segmentRenameBody,
    answer: savedSegmentAnswer,
    run: async ({ body, request }) => shownSegment(await renameSegment(deskOf(context, request), body), request.actor),
  });

  adminRoute(routes, {
    path: "segments/remove",
    summary: "Remove a segment",
    description: "Refused while saved views use it, unless `even_if_used` is set.",
    access: "detail",
    body: segmentRemoveBody,
    answer: segmentRemovedAnswer,
    run: async ({ body, request }) => {
      await removeSegment(deskOf(context, request), body);
      return {};
    },
  });
}

function exportRoute(routes: FastifyInstance, context: AdminReportContext, streams: RowStreams): void {
  adminStreamRoute(routes, {
    path: "segments/export",
    summary: "The users of a segment, or their devices, as a stream of NDJSON or CSV",
    description: `All of them, in the order of their client ids. The trailer \`${ROWS}\` holds the number of rows.`,
    access: "detail",
    body: segmentExportBody,
    send: async ({ body, request, reply }) => {
      lakeOf(context);
      streams.assertFree();
      const { kind, format = "ndjson", date_list } = body;
      const { app, condition } = await beginSegmentExport(deskOf(context, request), body);
      const { appId } = app;
      const pieces = await putSegment(context, request, { appId, condition, ...(date_list && { date_list }) });
      const { pool } = context.reads.current();
      return streams.send(reply, format, (write) => exportSegment(pool, { appId, pieces, kind, format, write }));
    },
  });
}

function deskOf({ pool, vault, clock }: AdminReportContext, { by, actor }: FastifyRequest) {
  return { pool, vault, clock, by, actor };
}
