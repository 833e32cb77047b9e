import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { addCampaign, editCampaign, noCampaign } from "../../../admin/setting/campaigns.ts";
import {
  type CampaignList,
  campaignAnswer,
  campaignChangeBody,
  campaignCreateBody,
  campaignLinksAnswer,
  campaignListAnswer,
  campaignListQuery,
  linkQuery,
  platformListAnswer,
  platformListQuery,
} from "../../../contract/setting/campaign.ts";
import { type Campaign, loadCampaign, pageCampaigns } from "../../../db/campaign.ts";
import { loadCampaignFigures } from "../../../db/touch-day.ts";
import { addDays, calendarOf } from "../../../domain/calendar.ts";
import type { ServedApp } from "../../../intake/app-directory.ts";
import { campaignLinks, shownCampaign } from "../../../platform/campaign-link.ts";
import { listPlatforms } from "../../../platform/platform-list.ts";
import { PUBLISHER_PLATFORMS } from "../../../platform/registry.ts";
import { PAGE_SIZE, pageInfo, readPage } from "../../../report/list/list-request.ts";
import { adminRoute } from "../admin-route.ts";
import { askedConnectors } from "../asked-connectors.ts";
import { baseUrlOf } from "../base-url.ts";
import type { SettingContext } from "./setting-context.ts";

const RECENT_DAYS = 7;
const NOTHING = { clicks: 0, impressions: 0, users: 0 };

type CampaignListQuery = Static<typeof campaignListQuery>;

/** Promotion campaigns, their monitoring links, and the supported platforms. */
export function campaignRoutes(routes: FastifyInstance, context: SettingContext): void {
  listRoutes(routes, context);
  changeRoutes(routes, context);

  adminRoute(routes, {
    path: "campaigns/links",
    summary: "Monitoring links",
    description: "To enter at the platform, which replaces the macros and calls the links.",
    access: "detail",
    query: linkQuery,
    answer: campaignLinksAnswer,
    run: async ({ query, request }) => {
      const campaign = await findCampaign(context, Number(query.app_id), query.turbo_promoted_object_id);
      const baseUrl = baseUrlOf(request, query.base_url);
      const platform = query.ad_platform;
      const links = campaignLinks(campaign, { baseUrl, macros: {}, ...(platform !== undefined && { platform }) });
      return { links };
    },
  });

  adminRoute(routes, {
    path: "platforms",
    summary: "Ad platforms, and what each supports",
    access: "report",
    apps: "some",
    query: platformListQuery,
    answer: platformListAnswer,
    run: async ({ query }) => ({
      platforms: listPlatforms(await askedConnectors(context, query)),
      publishers: [...PUBLISHER_PLATFORMS],
    }),
  });
}

function listRoutes(routes: FastifyInstance, context: SettingContext): void {
  adminRoute(routes, {
    path: "campaigns",
    summary: "Campaigns of an app, with their recent touches and users",
    access: "report",
    query: campaignListQuery,
    answer: campaignListAnswer,
    run: async ({ query }) => {
      const app = await context.apps.findById(Number(query.app_id));
      return listedCampaigns(context, app, query);
    },
  });
}

async function listedCampaigns(
  { pool, clock }: Pick<SettingContext, "pool" | "clock">,
  app: ServedApp,
  query: CampaignListQuery,
): Promise<CampaignList> {
  const { appId, timeZone } = app;
  const page = readPage({ page: Number(query.page ?? 1), page_size: Number(query.page_size ?? PAGE_SIZE) });
  const { campaigns, total } = await pageCampaigns(pool, { appId, search: query.search ?? "", ...page });
  const calendar = calendarOf(timeZone);
  const today = calendar.dayOf(clock());
  const figures = await loadCampaignFigures(pool, {
    appId,
    campaignIds: campaigns.map((campaign) => campaign.campaignId),
    fromDay: addDays(today, 1 - RECENT_DAYS),
    untilDay: addDays(today, 1),
  });
  return {
    campaigns: campaigns.map((campaign) => ({
      ...shownCampaign(campaign),
      created_at: calendar.textOf(campaign.createdAtMs),
      recent: figures.get(campaign.campaignId) ?? NOTHING,
    })),
    recent_days: RECENT_DAYS,
    page_info: pageInfo(page, total),
  };
}

function changeRoutes(routes: FastifyInstance, { pool, vault, clock }: SettingContext): void {
  adminRoute(routes, {
    path: "campaigns/create",
    summary: "Create a campaign",
    access: "operate",
    body: campaignCreateBody,
    answer: campaignAnswer,
    run: async ({ body, by }) => shownCampaign(await addCampaign({ pool, vault, clock, by }, body)),
  });

  adminRoute(routes, {
    path: "campaigns/edit",
    summary: "Change a campaign",
    description: "Absent fields stay as they are.",
    access: "operate",
    body: campaignChangeBody,
    answer: campaignAnswer,
    run: async ({ body, by }) => shownCampaign(await editCampaign({ pool, vault, clock, by }, body)),
  });
}

async function findCampaign(
  context: Pick<SettingContext, "pool" | "apps">,
  appId: number,
  id: string,
): Promise<Campaign> {
  const app = await context.apps.findById(appId);
  const key = { appId: app.appId, campaignId: id };
  const campaign = await loadCampaign(context.pool, key);
  if (!campaign) throw noCampaign(key);
  return campaign;
}
