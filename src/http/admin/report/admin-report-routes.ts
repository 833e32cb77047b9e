import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Static } from "typebox";
import { cellBody, exportBody } from "../../../contract/admin/admin-report.ts";
import { explainedAnswer } from "../../../contract/admin/console-report.ts";
import type { App } from "../../../db/app.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import { readCell } from "../../../report/ad/cell-request.ts";
import { explainCell } from "../../../report/ad/explain.ts";
import { readDates } from "../../../report/dates.ts";
import { type ExportOf, exportRows } from "../../../report/list/export.ts";
import { orderListCondition } from "../../../report/list/order-list.ts";
import { userListCondition } from "../../../report/list/user-list.ts";
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
    access: "read",
    body: cellBody,
    answer: explainedAnswer,
    run: async ({ body }) => {
      const app = await context.apps.findById(body.app_id);
      return explainCell(context.reportPool(), readCell(body), app);
    },
  });

  adminStreamRoute(routes, {
    path: "export",
    summary: "Events, orders or users as a stream of NDJSON or CSV",
    description: `One consistent snapshot. The trailer \`${ROWS}\` holds the number of rows.`,
    access: "read",
    // Filters name clients; kept in the audit log, they would outlive the clients' erasure.
    audit: { isNoted: true, hides: ["user_filtering", "event_filtering", "property_condition"] },
    body: exportBody,
    send: async ({ body, reply }) => {
      if (running.exports >= LIMITS.exportsAtOnce) {
        const message = `${LIMITS.exportsAtOnce} exports are running; try again.`;
        throw new ApiError("overloaded", message, { retryAfterS: 10 });
      }
      return sendExport(context, reply, body, running);
    },
  });
}

type ExportBody = Static<typeof exportBody>;

/** A reader that takes nothing for this long is cut off. */
const STALL_MS_MAX = 60_000;

async function sendExport(
  context: Pick<AdminReportContext, "apps" | "reportPool">,
  reply: FastifyReply,
  body: ExportBody,
  running: { exports: number },
): Promise<FastifyReply> {
  const app = await context.apps.findById(body.app_id);
  const [what, format] = [exportOf(body, app), body.format ?? "ndjson"];
  const stream = new PassThrough();
  const closing = new AbortController();
  stream.once("close", () => closing.abort());
  const write = async (text: string) => {
    if (stream.destroyed) throw new Error("The reader has gone.");
    if (stream.write(text)) return;
    await once(stream, "drain", { signal: AbortSignal.any([closing.signal, AbortSignal.timeout(STALL_MS_MAX)]) });
  };
  running.exports += 1;
  const exporting = exportRows(context.reportPool(), app, { what, format, write }).finally(() => {
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

function exportOf(body: ExportBody, app: App): ExportOf {
  const { kind, user_filtering = {}, event_filtering = {}, property_condition = [] } = body;
  if (kind !== "events") {
    const what: ExportOf = { kind, filter: { user_filtering, event_filtering, property_condition } };
    // A wrong filter is refused before the answer begins.
    if (what.kind === "orders") orderListCondition(what.filter, app);
    else if (what.kind === "users") userListCondition(what.filter, app);
    return what;
  }
  const { fromDay, untilDay } = readDates([body.from ?? "", body.to ?? ""], "from and to");
  return { kind, fromDay, untilDay };
}
