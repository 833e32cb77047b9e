import type { Static } from "typebox";
import { exportBody } from "../../contract/admin/admin-report.ts";
import { reportCsvBody } from "../../contract/admin/console-report.ts";
import { sqlBody } from "../../contract/analysis/asked.ts";
import type { App } from "../../db/app.ts";
import { ApiError } from "../../errors.ts";
import { readDates } from "../../report/dates.ts";
import type { ExportFormat, ExportOf } from "../../report/list/export.ts";
import { orderListCondition } from "../../report/list/order-list.ts";
import { userListCondition } from "../../report/list/user-list.ts";
import { assertApps, knownApp } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type ExportBody = Static<typeof exportBody>;

export type BegunExport = { app: App; what: ExportOf; format: ExportFormat };

/**
 * Begins an export of events, orders or users: what is to be exported is checked and noted. The rows are read for as
 * long as the reader takes, so the note belongs to the beginning.
 */
export function beginExport(desk: Desk, body: ExportBody): Promise<BegunExport> {
  return act(desk, {
    action: "export",
    schema: exportBody,
    body,
    // Filters name clients; kept in the audit log, they would outlive the clients' erasure.
    hides: ["user_filtering", "event_filtering", "property_condition"],
    run: async (tx) => {
      const app = await knownApp(tx, desk.vault, body.app_id);
      return { app, what: exportOf(body, app), format: body.format ?? "ndjson" };
    },
  });
}

/** Notes that an ad report is handed out as a file, before it is. */
export function handOutReport(desk: Desk, body: Static<typeof reportCsvBody>): Promise<void> {
  return act(desk, {
    action: "report/ad/csv",
    schema: reportCsvBody,
    body,
    run: (tx) => assertApps(tx, [body.app_id]),
  });
}

/** Notes that somebody puts a query of their own to the lake, before it is answered. */
export function noteSql(desk: Desk, body: Static<typeof sqlBody>): Promise<void> {
  return act(desk, {
    action: "analysis/sql",
    schema: sqlBody,
    body,
    // It may name clients, as filters do.
    hides: ["statement"],
    run: (tx) => assertApps(tx, [body.app_id]),
  });
}

function exportOf(body: ExportBody, app: App): ExportOf {
  const { kind, user_filtering = {}, event_filtering = {}, property_condition = [] } = body;
  if (kind !== "events") {
    const what: ExportOf = { kind, filter: { user_filtering, event_filtering, property_condition } };
    // A wrong filter is refused before the export begins.
    if (what.kind === "orders") orderListCondition(what.filter, app);
    else if (what.kind === "users") userListCondition(what.filter, app);
    return what;
  }
  if (body.segment_filtering)
    throw new ApiError("badParameter", "segment_filtering is for users and orders: leave it out for events.");
  // Rows are streamed, so an export may span all days, unlike a report.
  const { fromDay, untilDay } = readDates([body.from ?? "", body.to ?? ""], "from and to", Number.POSITIVE_INFINITY);
  return { kind, fromDay, untilDay };
}
