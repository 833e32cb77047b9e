import type { FastifyInstance, FastifyRequest } from "fastify";
import { whyQuery } from "../../contract/admin/admin.ts";
import { fraudAnswer, fraudQuery } from "../../contract/admin/fraud.ts";
import { whyAnswer } from "../../contract/admin/why.ts";
import { success } from "../../contract/envelope.ts";
import { type JsonObject, storable } from "../../domain/json.ts";
import { readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import { fraudReport } from "../../report/attribution/fraud.ts";
import { explainUser } from "../../report/attribution/why.ts";
import { auditChanges } from "./audit.ts";
import { actorOf } from "./authentication.ts";
import { type Days, daysOf } from "./day-range.ts";
import { adminCostRoutes } from "./operation/cost-routes.ts";
import { doctorRoutes } from "./operation/doctor-routes.ts";
import { healthRoutes } from "./operation/health-routes.ts";
import { consoleLiveRoutes } from "./operation/live-routes.ts";
import type { OperationContext } from "./operation/operation-context.ts";
import { postbackRoutes } from "./operation/postback-routes.ts";
import type { AdminReportContext } from "./report/admin-report-context.ts";
import { adminReportRoutes } from "./report/admin-report-routes.ts";
import { consoleReportRoutes } from "./report/console-report-routes.ts";
import { listRoutes } from "./report/list-routes.ts";
import { reportViewRoutes } from "./report/report-view-routes.ts";
import { userRoutes } from "./report/user-routes.ts";
import { consoleUserRoutes } from "./session/console-user-routes.ts";
import type { SessionContext } from "./session/session-context.ts";
import { sessionRoutes } from "./session/session-routes.ts";
import { accountRoutes } from "./setting/account-routes.ts";
import { appRoutes } from "./setting/app-routes.ts";
import { attributionRuleRoutes } from "./setting/attribution-rule-routes.ts";
import { callbackRoutes } from "./setting/callback-routes.ts";
import { campaignRoutes } from "./setting/campaign-routes.ts";
import { developerRoutes } from "./setting/developer-routes.ts";
import { metadataRoutes } from "./setting/metadata-routes.ts";
import { postbackRuleRoutes } from "./setting/postback-rule-routes.ts";
import type { SettingContext } from "./setting/setting-context.ts";

const BASE = "/admin/api/v1";
type Texts = Record<string, string>;

export type AdminContext = SessionContext & SettingContext & AdminReportContext & OperationContext;

/** What an operator or the console does: each of these needs the admin token, or somebody signed in. */
export function adminRoutes(server: FastifyInstance, context: AdminContext): void {
  server.register(async (routes) => {
    routes.addHook("preParsing", async (request) => {
      request.actor = await actorOf(context, request);
    });
    // What comes in a body was made storable when it was read.
    routes.addHook("preValidation", async (request) => {
      request.query = storable(request.query as JsonObject);
    });
    auditChanges(routes, context);
    appRoutes(routes, context);
    metadataRoutes(routes, context);
    campaignRoutes(routes, context);
    attributionRuleRoutes(routes, context);
    explainRoutes(routes, context);
    adminReportRoutes(routes, context);
    consoleReportRoutes(routes, context);
    reportViewRoutes(routes, context);
    listRoutes(routes, context);
    adminCostRoutes(routes, context);
    developerRoutes(routes, context);
    userRoutes(routes, context);
    consoleUserRoutes(routes, context);
    postbackRuleRoutes(routes, context);
    postbackRoutes(routes, context);
    accountRoutes(routes, context);
    callbackRoutes(routes, context);
    consoleLiveRoutes(routes, context);
    doctorRoutes(routes, context);
    healthRoutes(routes, context);
  });
  server.register(async (routes) => sessionRoutes(routes, context));
}

function explainRoutes(routes: FastifyInstance, context: Pick<AdminContext, "pool" | "apps">): void {
  const { pool, apps } = context;

  routes.get(`${BASE}/attribution/why`, {
    schema: {
      summary: "Why a user belongs to a platform, or to none",
      ...{ tags: ["admin"], querystring: whyQuery, response: { 200: whyAnswer } },
    },
    handler: async (request) => {
      const { app_id, client_id } = request.query as Texts;
      const app = await apps.findById(Number(app_id));
      const explanation = await explainUser(pool, app, readClientId(client_id));
      if (!explanation) throw new ApiError("notRegistered", "There is no user of this client_id.");
      return success(explanation);
    },
  });

  routes.get(`${BASE}/attribution/fraud`, {
    schema: {
      summary: "What looks like fraud",
      tags: ["admin"],
      querystring: fraudQuery,
      response: { 200: fraudAnswer },
    },
    handler: async (request: FastifyRequest) => {
      const query = request.query as Texts & Days;
      return success(await fraudReport(pool, await apps.findById(Number(query.app_id)), daysOf(query)));
    },
  });
}
