import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { handOutReport } from "../../../admin/report/exports.ts";
import { showSigningKey } from "../../../admin/setting/developers.ts";
import {
  catalogueAnswer,
  catalogueQuery,
  consoleReportAnswer,
  consoleReportBody,
  reportBatchAnswer,
  reportBatchBody,
  reportCsvBody,
  requestTextAnswer,
  requestTextBody,
} from "../../../contract/admin/console-report.ts";
import { holdDays } from "../../../db/apply-holder.ts";
import { loadCampaignNames } from "../../../db/campaign.ts";
import type { ColdEvents } from "../../../db/cold-event.ts";
import { inTransaction } from "../../../db/engine/pool.ts";
import type { Executor } from "../../../db/engine/sql.ts";
import { mayEverywhere } from "../../../domain/access/role.ts";
import { ApiError } from "../../../errors.ts";
import { type AdReport, runAdReport } from "../../../report/ad/ad-report.ts";
import { readAdReport } from "../../../report/ad/ad-report-request.ts";
import { reportCsv } from "../../../report/ad/report-csv.ts";
import { orderedItems, pageOfItems, readReportView } from "../../../report/ad/report-page.ts";
import { requestText } from "../../../report/ad/request-text.ts";
import { shownCatalogue } from "../../../report/metric/shown-catalogue.ts";
import { dataAgeS } from "../../report/data-age.ts";
import { requireApproved, requireGranted } from "../../report/report-access.ts";
import { adminRoute, adminStreamRoute } from "../admin-route.ts";
import { baseUrlOf } from "../base-url.ts";
import type { AdminReportContext } from "./admin-report-context.ts";

/** The ad report for the console: the same numbers as the public one, without signature and rate limit. */
export function consoleReportRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  reportRoute(routes, context);
  batchRoute(routes, context);
  csvRoute(routes, context);
  requestTextRoute(routes, context);

  adminRoute(routes, {
    path: "report/catalogue",
    summary: "Metrics and dimensions of the ad report",
    description: "Names in English and Chinese, definitions, formulas, and which dimensions exclude one another.",
    access: "report",
    apps: "some",
    query: catalogueQuery,
    answer: catalogueAnswer,
    run: async ({ query }) => {
      const { statistics_caliber: caliber = "user_activated_time", roi_version } = query;
      return shownCatalogue({ caliber, roiVersion: roi_version === "2" ? 2 : 1 });
    },
  });
}

function reportRoute(routes: FastifyInstance, context: AdminReportContext): void {
  adminRoute(routes, {
    path: "report/ad",
    summary: "Ad report for the console",
    description: "The public ad report without its signature and rate limit; sorted, and in pages.",
    access: "report",
    body: consoleReportBody,
    answer: consoleReportAnswer,
    run: async ({ body }) => {
      const app = await context.apps.findById(body.app_id);
      const asked = readAdReport(body, body.rate_decimal_point);
      const view = readReportView(body, asked);
      return context.reads.read(async (reading) => {
        const data_age_s = await dataAgeS(context, reading, app.appId);
        const report = await runAdReport(reading.pool, asked, app, reading.cold);
        const page = pageOfItems(report.items, view);
        const campaign_names = await campaignNames(reading.pool, app.appId, page.items);
        return { ...numbersOf(report), ...page, campaign_names, data_age_s };
      });
    },
  });
}

async function campaignNames(
  executor: Executor,
  appId: number,
  items: AdReport["items"],
): Promise<Record<string, string>> {
  const ids = new Set(items.map((item) => item.turbo_promoted_object_id).filter((id) => typeof id === "string"));
  return ids.size === 0 ? {} : loadCampaignNames(executor, { appId, ids: [...ids] });
}

function batchRoute(routes: FastifyInstance, context: AdminReportContext): void {
  adminRoute(routes, {
    path: "report/ad/batch",
    summary: "Several ad reports from one snapshot",
    description: "For pages that show more than one report: all of them see the same data.",
    access: "report",
    body: reportBatchBody,
    answer: reportBatchAnswer,
    run: async ({ body }) => {
      const { app_id, reports } = body;
      const app = await context.apps.findById(app_id);
      const asked = reports.map((report) => readAdReport({ ...report, app_id }, report.rate_decimal_point));
      const run = async (tx: Executor, cold: ColdEvents) => {
        await holdDays(tx);
        const answers: Pick<AdReport, "columns" | "items" | "total">[] = [];
        for (const one of asked) answers.push(numbersOf(await runAdReport(tx, one, app, cold)));
        return answers;
      };
      return context.reads.readWithDays(async (reading) => {
        const data_age_s = await dataAgeS(context, reading, app.appId);
        return { reports: await inTransaction(reading.pool, (tx) => run(tx, reading.cold), "snapshot"), data_age_s };
      });
    },
  });
}

/** The report without tips and labels: the console takes those from the catalogue, in both languages. */
function numbersOf({ columns, items, total }: AdReport): Pick<AdReport, "columns" | "items" | "total"> {
  return { columns, items, total };
}

function csvRoute(routes: FastifyInstance, context: AdminReportContext): void {
  adminStreamRoute(routes, {
    path: "report/ad/csv",
    summary: "Ad report as a CSV file",
    description: "All rows in the requested order, with the total at the end. UTF-8 with a byte order mark.",
    access: "report",
    body: reportCsvBody,
    send: async ({ body, by, reply }) => {
      const { pool, vault, clock } = context;
      const app = await context.apps.findById(body.app_id);
      const asked = readAdReport(body, body.rate_decimal_point);
      const { order } = readReportView({ ...(body.order_by_list && { order_by_list: body.order_by_list }) }, asked);
      const report = await context.reads.read(({ pool: reading, cold }) => runAdReport(reading, asked, app, cold));
      const ordered = { ...report, items: orderedItems(report.items, order) };
      await handOutReport({ pool, vault, clock, by }, body);
      reply.type("text/csv; charset=utf-8");
      return reply.send(Readable.from(reportCsv(ordered, asked, body.language ?? "en")));
    },
  });
}

function requestTextRoute(routes: FastifyInstance, context: AdminReportContext): void {
  adminRoute(routes, {
    path: "report/request-text",
    summary: "An ad report as a call of the public interface",
    description: "Text to copy, signed with the key of a developer application, or with placeholders for the key.",
    access: "report",
    body: requestTextBody,
    answer: requestTextAnswer,
    run: async ({ body, request }) => {
      const { developer_id, base_url, ...asked } = body;
      await context.apps.findById(asked.app_id);
      readAdReport(asked);
      const appKey = developer_id === undefined ? undefined : await keyFor(context, request, { ...body, developer_id });
      const baseUrl = baseUrlOf(request, base_url);
      return requestText(asked, { baseUrl, ...(appKey !== undefined && { appKey }) });
    },
  });
}

/** The key of a developer application that could make this call itself. The token in the text holds it readably. */
async function keyFor(
  context: AdminReportContext,
  { actor, by }: FastifyRequest,
  body: Parameters<typeof showSigningKey>[1],
): Promise<string> {
  // The key may open other apps, too.
  if (!mayEverywhere(actor.grants, "installation")) {
    throw new ApiError(
      "notGranted",
      "Only admins of all apps can see a request signed with the key of a developer application.",
    );
  }
  const { pool, vault, clock } = context;
  return showSigningKey({ pool, vault, clock, by }, body, async (developer) => {
    requireApproved(developer);
    await requireGranted(context, developer, body.app_id);
  });
}
