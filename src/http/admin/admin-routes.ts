import type { FastifyInstance } from "fastify";
import { type JsonObject, storable } from "../../domain/json.ts";
import { callerOf } from "../caller-address.ts";
import { assertMayUseApps } from "./actor.ts";
import { actorOf } from "./authentication.ts";
import { adRevenueRoutes } from "./operation/ad-revenue-routes.ts";
import { adminCostRoutes } from "./operation/cost-routes.ts";
import { doctorRoutes } from "./operation/doctor-routes.ts";
import { healthRoutes } from "./operation/health-routes.ts";
import { historyRoutes } from "./operation/history-routes.ts";
import { consoleLiveRoutes } from "./operation/live-routes.ts";
import type { OperationContext } from "./operation/operation-context.ts";
import { postbackRoutes } from "./operation/postback-routes.ts";
import type { AdminReportContext } from "./report/admin-report-context.ts";
import { adminReportRoutes } from "./report/admin-report-routes.ts";
import { analysisRoutes } from "./report/analysis-routes.ts";
import { attributionRoutes } from "./report/attribution-routes.ts";
import { consoleReportRoutes } from "./report/console-report-routes.ts";
import { listRoutes } from "./report/list-routes.ts";
import { reportViewRoutes } from "./report/report-view-routes.ts";
import { RowStreams } from "./report/row-stream.ts";
import { segmentRoutes } from "./report/segment-routes.ts";
import { userRoutes } from "./report/user-routes.ts";
import { apiTokenRoutes } from "./session/api-token-routes.ts";
import { consoleUserRoutes } from "./session/console-user-routes.ts";
import type { SessionContext } from "./session/session-context.ts";
import { sessionRoutes } from "./session/session-routes.ts";
import { openGate } from "./session/sign-in-gate.ts";
import { accountRoutes } from "./setting/account-routes.ts";
import { appRoutes } from "./setting/app-routes.ts";
import { attributionRuleRoutes } from "./setting/attribution-rule-routes.ts";
import { authorisationRoutes } from "./setting/authorisation-routes.ts";
import { callbackRoutes } from "./setting/callback-routes.ts";
import { campaignRoutes } from "./setting/campaign-routes.ts";
import { connectorRoutes } from "./setting/connector-routes.ts";
import { developerRoutes } from "./setting/developer-routes.ts";
import { ecpmRoutes } from "./setting/ecpm-routes.ts";
import { metadataRoutes } from "./setting/metadata-routes.ts";
import { postbackRuleRoutes } from "./setting/postback-rule-routes.ts";
import { rebateRoutes } from "./setting/rebate-routes.ts";
import type { SettingContext } from "./setting/setting-context.ts";
import { shareRoutes } from "./setting/share-routes.ts";

export type AdminContext = SessionContext & SettingContext & AdminReportContext & OperationContext;

/** Everything that operators and the console do. Each route needs a token or a signed-in person. */
export function adminRoutes(server: FastifyInstance, context: AdminContext): void {
  // One for all: guesses count together, wherever a password or a code is taken.
  const gate = openGate();
  const streams = new RowStreams();
  server.register(async (routes) => {
    routes.addHook("preParsing", async (request) => {
      request.actor = await actorOf(context, request);
    });
    // Only the query: bodies were made storable when they were read.
    routes.addHook("preValidation", async (request) => {
      request.query = storable(request.query as JsonObject);
    });
    routes.addHook("preHandler", async (request) => {
      assertMayUseApps(request.actor, request);
      request.by = { name: request.actor.by ?? request.actor.name, address: callerOf(context, request) };
    });
    // Everything but reading counts as a change.
    routes.addHook("onSend", async ({ method, routeOptions }) => {
      const { access } = routeOptions.config;
      if (method === "POST" && access !== "report" && access !== "detail") context.reads.noteChange();
    });
    appRoutes(routes, context);
    metadataRoutes(routes, context);
    campaignRoutes(routes, context);
    attributionRuleRoutes(routes, context);
    attributionRoutes(routes, context);
    adminReportRoutes(routes, context, streams);
    analysisRoutes(routes, context);
    segmentRoutes(routes, context, streams);
    consoleReportRoutes(routes, context);
    reportViewRoutes(routes, context);
    listRoutes(routes, context);
    adminCostRoutes(routes, context);
    adRevenueRoutes(routes, context);
    developerRoutes(routes, context);
    userRoutes(routes, context);
    consoleUserRoutes(routes, context);
    apiTokenRoutes(routes, context, gate);
    rebateRoutes(routes, context);
    ecpmRoutes(routes, context);
    shareRoutes(routes, context);
    postbackRuleRoutes(routes, context);
    postbackRoutes(routes, context);
    accountRoutes(routes, context);
    connectorRoutes(routes, context);
    authorisationRoutes(routes, context);
    callbackRoutes(routes, context);
    consoleLiveRoutes(routes, context);
    doctorRoutes(routes, context);
    healthRoutes(routes, context);
    historyRoutes(routes, context);
  });
  server.register(async (routes) => sessionRoutes(routes, context, gate));
}
