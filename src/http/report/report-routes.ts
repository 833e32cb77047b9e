import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Type } from "typebox";
import { success } from "../../contract/envelope.ts";
import { orderListAnswer, userListAnswer } from "../../contract/report/list-record.ts";
import {
  adReportAnswer,
  adReportBody,
  metricsListAnswer,
  metricsListBody,
  orderListBody,
  userListBody,
} from "../../contract/report/report.ts";
import type { Reading } from "../../db/replica/report-reads.ts";
import type { ServedApp } from "../../intake/app-directory.ts";
import { runAdReport } from "../../report/ad/ad-report.ts";
import { readAdReport } from "../../report/ad/ad-report-request.ts";
import { readOrderList, runOrderList } from "../../report/list/order-list.ts";
import { readUserList, runUserList } from "../../report/list/user-list.ts";
import { METRICS } from "../../report/metric/catalogue.ts";
import { dataAgeS } from "./data-age.ts";
import { namedDeveloper, requireGranted, requireSigned, withinRate } from "./report-access.ts";
import type { ReportContext } from "./report-context.ts";

const BASE = "/openapi/api/v1/report";
const DATA_AGE = "touchpoint-data-age";

/** The public reports: signed, and limited in their rate. */
export function reportRoutes(server: FastifyInstance, context: ReportContext): void {
  server.register(async (routes) => {
    routes.addHook("preParsing", async (request) => {
      request.named = await namedDeveloper(context, request);
    });
    routes.addHook("preValidation", async (request) => {
      request.developer = await requireSigned(context, request, request.named);
    });

    reportRoute(routes, context, {
      path: "combo_sql",
      summary: "Ad report",
      description: "What ads cost and returned, grouped by dimensions. docs/METRICS.md defines every metric.",
      body: adReportBody,
      answer: adReportAnswer,
      prepare: (body, app, request) => {
        const asked = readAdReport(body);
        const extra = { error: "", request_id: request.requestId };
        return async ({ pool, cold }) => success(await runAdReport(pool, asked, app, cold), extra);
      },
    });

    reportRoute(routes, context, {
      path: "order/list",
      summary: "Order list",
      description: "Payment orders with their users and postbacks. Amounts in cents.",
      body: orderListBody,
      answer: orderListAnswer,
      prepare: (body, app) => {
        const asked = readOrderList(body, app);
        return async ({ pool }) => success(await runOrderList(pool, asked));
      },
    });

    reportRoute(routes, context, {
      path: "user/list",
      summary: "User list",
      description: "Users with their figures, source and device.",
      body: userListBody,
      answer: userListAnswer,
      prepare: (body, app) => {
        const asked = readUserList(body, app);
        return async ({ pool }) => success(await runUserList(pool, asked, app));
      },
    });

    metricsRoute(routes);
  });
}

type ReportSchema = Type.TObject<{ app_id: Type.TInteger }>;

type ReportRoute<Body extends ReportSchema> = {
  path: string;
  summary: string;
  description: string;
  body: Body;
  answer: Type.TSchema;
  /** Refuses a wrong request, so that only reports that can run count against the rate. */
  prepare: (body: Type.Static<Body>, app: ServedApp, request: FastifyRequest) => (reading: Reading) => Promise<object>;
};

function reportRoute<Body extends ReportSchema>(
  routes: FastifyInstance,
  context: ReportContext,
  route: ReportRoute<Body>,
): void {
  const { path, summary, description, body, answer, prepare } = route;
  const hasRequestId = path === "combo_sql";
  routes.post(`${BASE}/${path}`, {
    schema: { summary, description, tags: ["report"], body, response: { 200: answer } },
    config: { endpoint: `report/${path}`, hasRequestId },
    handler: async (request, reply) => {
      request.requestId = randomUUID();
      const sent = request.body as Type.Static<Body>;
      const app = await requireGranted(context, request.developer, sent.app_id);
      const cubeOf = hasRequestId ? app.appId : undefined;
      return context.reads.read(async (reading) => {
        reply.header(DATA_AGE, String(await dataAgeS(context, reading, cubeOf)));
        const run = prepare(sent, app, request);
        return withinRate(context, request.developer, reply, () => run(reading));
      });
    },
  });
}

/** Signed like the reports, but not counted against the rate: the list holds no data of an app. */
function metricsRoute(routes: FastifyInstance): void {
  routes.post(`${BASE}/metrics/list`, {
    schema: {
      summary: "Metrics of the ad report",
      description: "Names, labels, units and definitions.",
      tags: ["report"],
      body: metricsListBody,
      response: { 200: metricsListAnswer },
    },
    config: { endpoint: "report/metrics/list" },
    handler: async () =>
      success({ list: METRICS.map(({ name, label, cname, unit, tip }) => ({ name, label, cname, unit, tip })) }),
  });
}
