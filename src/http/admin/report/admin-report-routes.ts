import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type BegunExport, beginExport } from "../../../admin/report/exports.ts";
import { cellBody, exportBody } from "../../../contract/admin/admin-report.ts";
import { explainedAnswer } from "../../../contract/admin/console-report.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import { readCell } from "../../../report/ad/cell-request.ts";
import { explainCell } from "../../../report/ad/explain.ts";
import { exportRows } from "../../../report/list/export.ts";
import { adminRoute, adminStreamRoute } from "../admin-route.ts";
import type { AdminReportContext } from "./admin-report-context.ts";

const ROWS = "touchpoint-rows";

/** The facts behind a number of a report, and data exports. */
export function adminReportRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  const running = { exports: 0 };

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
      return context.reads.read(({ pool }) => explainCell(pool, cell, app));
    },
  });

  adminStreamRoute(routes, {
    path: "export",
    summary: "Events, orders or users as a stream of NDJSON or CSV",
    description: `One consistent snapshot. The trailer \`${ROWS}\` holds the number of rows.`,
    access: "detail",
    body: exportBody,
    send: async ({ body, by, reply }) => {
      if (running.exports >= LIMITS.exportsAtOnce) {
        const message = `${LIMITS.exportsAtOnce} exports are running; try again.`;
        throw new ApiError("overloaded", message, { retryAfterS: 10 });
      }
      const { pool, vault, clock } = context;
      const begun = await beginExport({ pool, vault, clock, by }, body);
      return sendExport(context, reply, begun, running);
    },
  });
}

/** A reader that takes nothing for this long is cut off. */
const STALL_MS_MAX = 60_000;

async function sendExport(
  context: Pick<AdminReportContext, "reads">,
  reply: FastifyReply,
  { app, what, format }: BegunExport,
  running: { exports: number },
): Promise<FastifyReply> {
  const stream = new PassThrough();
  const closing = new AbortController();
  stream.once("close", () => closing.abort());
  const write = async (text: string) => {
    if (stream.destroyed) throw new Error("The reader has gone.");
    if (stream.write(text)) return;
    await once(stream, "drain", { signal: AbortSignal.any([closing.signal, AbortSignal.timeout(STALL_MS_MAX)]) });
  };
  running.exports += 1;
  const exporting = exportRows(context.reads.current().pool, app, { what, format, write }).finally(() => {
    running.exports -= 1;
  });
  exporting.then(
    () => stream.end(),
    (error: Error) => stream.destroy(error),
  );
  reply.trailer(ROWS, async () => String(await exporting));
  reply.type(format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson");
  return reply.send(stream);
}
