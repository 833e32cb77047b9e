import type { FastifyInstance } from "fastify";
import { beginExport } from "../../../admin/report/exports.ts";
import { cellBody, exportBody } from "../../../contract/admin/admin-report.ts";
import { explainedAnswer } from "../../../contract/admin/console-report.ts";
import { readCell } from "../../../report/ad/cell-request.ts";
import { explainCell } from "../../../report/ad/explain.ts";
import { exportRows } from "../../../report/list/export.ts";
import { adminRoute, adminStreamRoute } from "../admin-route.ts";
import type { AdminReportContext } from "./admin-report-context.ts";
import { segmentClients } from "./lake-question.ts";
import { ROWS, type RowStreams } from "./row-stream.ts";

/** The facts behind a number of a report, and data exports. */
export function adminReportRoutes(routes: FastifyInstance, context: AdminReportContext, streams: RowStreams): void {
  adminRoute(routes, {
    path: "report/explain",
    summary: "The users, orders and costs behind a number of the ad report",
    description: "The listed rows add up to the sums that the number is computed from.",
    access: "detail",
    body: cellBody,
    answer: explainedAnswer,
    run: async ({ body }) => {
      const app = await context.apps.findById(body.app_id);
      const cell = readCell(body);
      return context.reads.readWithDays(({ pool, cold }) => explainCell(pool, cell, app, cold));
    },
  });

  adminStreamRoute(routes, {
    path: "export",
    summary: "Events, orders or users as a stream of NDJSON or CSV",
    description: `One consistent snapshot. The trailer \`${ROWS}\` holds the number of rows.`,
    access: "detail",
    body: exportBody,
    send: async ({ body, by, request, reply }) => {
      streams.assertFree();
      const { pool, vault, clock } = context;
      // Before anything is noted: a segment that is too large is refused.
      const clients = body.kind === "events" ? undefined : await segmentClients(context, request, body);
      const { app, what, format } = await beginExport({ pool, vault, clock, by }, body);
      const asked = clients && what.kind !== "events" ? { ...what, clients } : what;
      const { reads } = context;
      const { pool: reading, cold } = await (what.kind === "events" ? reads.currentWithDays() : reads.current());
      return streams.send(reply, format, (write) => exportRows(reading, app, { what: asked, format, write, cold }));
    },
  });
}
