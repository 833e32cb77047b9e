import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  adminAnswer,
  appIdQuery,
  campaignChangeBody,
  campaignCreateBody,
  fraudQuery,
  linkQuery,
  whyQuery,
} from "../contract/admin.ts";
import { success } from "../contract/envelope.ts";
import { whyAnswer } from "../contract/why.ts";
import {
  type Campaign,
  type CampaignChange,
  changeCampaign,
  createCampaign,
  loadCampaign,
  loadCampaigns,
  newCampaignId,
} from "../db/campaign.ts";
import { ApiError } from "../errors.ts";
import { campaignLinks, shownCampaign } from "../platform/campaign-link.ts";
import { platformOfLink } from "../platform/registry.ts";
import { fraudReport } from "../report/fraud.ts";
import { explainUser } from "../report/why.ts";
import { accountRoutes } from "./account-routes.ts";
import { actorOf } from "./admin.ts";
import { adminCostRoutes } from "./admin-cost-routes.ts";
import { adminReportRoutes } from "./admin-report-routes.ts";
import { appRoutes } from "./app-routes.ts";
import { attributionRuleRoutes } from "./attribution-rule-routes.ts";
import { auditChanges } from "./audit.ts";
import { callbackRoutes } from "./callback-routes.ts";
import { consoleReportRoutes } from "./console-report-routes.ts";
import { consoleUserRoutes } from "./console-user-routes.ts";
import { type HttpContext, readClientId } from "./context.ts";
import { type Days, daysOf } from "./day-range.ts";
import { developerRoutes } from "./developer-routes.ts";
import { listRoutes } from "./list-routes.ts";
import { metadataRoutes } from "./metadata-routes.ts";
import { postbackRoutes } from "./postback-routes.ts";
import { postbackRuleRoutes } from "./postback-rule-routes.ts";
import { reportViewRoutes } from "./report-view-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import { userRoutes } from "./user-routes.ts";

const BASE = "/admin/api/v1";
type Texts = Record<string, string>;

/** What an operator or the console does: each of these needs the admin token, or somebody signed in. */
export function adminRoutes(server: FastifyInstance, context: HttpContext): void {
  server.register(async (routes) => {
    routes.addHook("preParsing", async (request) => {
      request.actor = await actorOf(context, request);
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
  });
  server.register(async (routes) => sessionRoutes(routes, context));
}

function campaignRoutes(routes: FastifyInstance, context: HttpContext): void {
  const { pool, apps, clock } = context;

  routes.get(`${BASE}/campaigns`, {
    schema: {
      summary: "Campaigns of an app",
      tags: ["admin"],
      querystring: appIdQuery,
      response: { 200: adminAnswer },
    },
    handler: async (request) => {
      const app = await apps.findById(Number((request.query as Texts).app_id));
      return success({ campaigns: (await loadCampaigns(pool, app.appId)).map(shownCampaign) });
    },
  });

  routes.post(`${BASE}/campaigns/create`, {
    schema: { summary: "Make a campaign", tags: ["admin"], body: campaignCreateBody, response: { 200: adminAnswer } },
    handler: async (request) => {
      const body = request.body as Texts;
      const app = await apps.findById(Number(body.app_id));
      const campaign: Campaign = {
        ...{ name: "", adPlatform: "", channel: "", osPlatform: "", operator: "", dept: "" },
        ...changeOf(body),
        appId: app.appId,
        turboPromotedObjectId: body.turbo_promoted_object_id ?? newCampaignId(),
        createdAtMs: clock(),
      };
      if (!(await createCampaign(pool, campaign)))
        throw new ApiError("badParameter", "The app already has a campaign of that turbo_promoted_object_id.");
      return success(shownCampaign(campaign));
    },
  });

  routes.post(`${BASE}/campaigns/edit`, {
    schema: { summary: "Change a campaign", tags: ["admin"], body: campaignChangeBody, response: { 200: adminAnswer } },
    handler: async (request) => {
      const body = request.body as Texts;
      const { appId } = await apps.findById(Number(body.app_id));
      const key = { appId, turboPromotedObjectId: body.turbo_promoted_object_id! };
      await changeCampaign(pool, key, changeOf(body));
      return success(shownCampaign(await findCampaign(context, appId, key.turboPromotedObjectId)));
    },
  });

  routes.get(`${BASE}/campaigns/links`, {
    schema: { summary: "Monitoring links", tags: ["admin"], querystring: linkQuery, response: { 200: adminAnswer } },
    handler: async (request) => {
      const query = request.query as Texts;
      const campaign = await findCampaign(context, Number(query.app_id), query.turbo_promoted_object_id!);
      const baseUrl = (query.base_url ?? `${request.protocol}://${request.host}`).replace(/\/+$/, "");
      const platform = query.ad_platform;
      const links = campaignLinks(campaign, { baseUrl, macros: {}, ...(platform !== undefined && { platform }) });
      return success({ links });
    },
  });
}

async function findCampaign(context: HttpContext, appId: number, id: string): Promise<Campaign> {
  const app = await context.apps.findById(appId);
  const campaign = await loadCampaign(context.pool, { appId: app.appId, turboPromotedObjectId: id });
  if (!campaign) throw new ApiError("badParameter", "The app has no campaign of that turbo_promoted_object_id.");
  return campaign;
}

function changeOf(body: Texts): CampaignChange {
  const platform = body.ad_platform ? platformOfLink(body.ad_platform) : undefined;
  if (body.ad_platform && !platform) throw new ApiError("badParameter", "ad_platform is not the name of a platform.");
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.ad_platform !== undefined && { adPlatform: platform?.name ?? "" }),
    ...(body.channel !== undefined && { channel: body.channel }),
    ...(body.os_platform !== undefined && { osPlatform: body.os_platform }),
    ...(body.operator !== undefined && { operator: body.operator }),
    ...(body.dept !== undefined && { dept: body.dept }),
  };
}

function explainRoutes(routes: FastifyInstance, context: HttpContext): void {
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
      response: { 200: adminAnswer },
    },
    handler: async (request: FastifyRequest) => {
      const query = request.query as Texts & Days;
      return success(await fraudReport(pool, await apps.findById(Number(query.app_id)), daysOf(query)));
    },
  });
}
