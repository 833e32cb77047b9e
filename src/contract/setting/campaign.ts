import { type Static, Type } from "typebox";
import { OPERATING_SYSTEMS } from "../../domain/user/operating-system.ts";
import { envelopeSchema } from "../envelope.ts";
import { pageFields } from "../paging.ts";
import { pageInfo } from "../report/list-record.ts";

const optional = (description: string) => Type.Optional(Type.String({ description, maxLength: 200 }));
const appId = Type.Integer({ description: "Application id", minimum: 1 });
const appIdText = Type.String({ pattern: "^\\d{1,10}$", description: "Application id" });

const campaignFields = {
  name: optional("Display name"),
  ad_platform: optional("Ad platform"),
  channel: optional("Channel of its links and costs"),
  os_platform: Type.Optional(Type.Unsafe<string>({ type: "string", enum: [...OPERATING_SYSTEMS, ""] })),
  operator: optional("Optimiser"),
  dept: optional("Department"),
};

export const campaignListQuery = Type.Object({
  app_id: appIdText,
  search: optional("Only campaigns whose id, name, platform, channel, optimiser or department contains this text"),
  ...pageFields,
});

export const campaignCreateBody = Type.Object({
  app_id: appId,
  turbo_promoted_object_id: Type.Optional(
    Type.String({ pattern: "^[A-Za-z0-9_-]{16}$", description: "16 characters; absent: one is generated" }),
  ),
  ...campaignFields,
});

export const campaignChangeBody = Type.Object({
  app_id: appId,
  turbo_promoted_object_id: Type.String({ minLength: 1 }),
  ...campaignFields,
});

export const linkQuery = Type.Object({
  app_id: appIdText,
  turbo_promoted_object_id: Type.String({ description: "Campaign" }),
  ad_platform: Type.Optional(
    Type.String({ description: "Instead of the campaign's own platform; `all` for every platform" }),
  ),
  base_url: Type.Optional(Type.String({ description: "Public address; absent: the address of this call" })),
});

const shownCampaign = {
  turbo_promoted_object_id: Type.String(),
  name: Type.String(),
  ad_platform: Type.String({ description: "Empty: none is named" }),
  channel: Type.String(),
  os_platform: Type.String(),
  operator: Type.String(),
  dept: Type.String(),
};

const campaign = Type.Object(shownCampaign);
export type ShownCampaign = Static<typeof campaign>;

const listedCampaign = Type.Object({
  ...shownCampaign,
  created_at: Type.String({ description: "In the app's zone" }),
  recent: Type.Object(
    { clicks: Type.Integer(), impressions: Type.Integer(), users: Type.Integer({ description: "Registered users" }) },
    { description: "Touches and users of the last days, including today" },
  ),
});
export type ListedCampaign = Static<typeof listedCampaign>;

const campaignList = Type.Object({
  campaigns: Type.Array(listedCampaign, { description: "Newest first" }),
  recent_days: Type.Integer({ description: "Number of days that `recent` covers" }),
  page_info: pageInfo,
});
export type CampaignList = Static<typeof campaignList>;

const linkMacro = Type.Object({
  parameter: Type.String({ description: "Parameter of the link" }),
  macro: Type.String({ description: "What the platform replaces with its value" }),
  certainty: Type.Unsafe<"certain" | "likely" | "own">({
    type: "string",
    enum: ["certain", "likely", "own"],
    description:
      "`certain`: from the platform's documents or several callers; `likely`: from one; `own`: named in the request",
  }),
});

const campaignLink = Type.Object({
  ad_platform: Type.String(),
  kind: Type.Unsafe<"click" | "impression">({ type: "string", enum: ["click", "impression"] }),
  url: Type.String(),
  macros: Type.Array(linkMacro),
});
export type CampaignLink = Static<typeof campaignLink>;

const campaignLinks = Type.Object({ links: Type.Array(campaignLink) });
export type CampaignLinks = Static<typeof campaignLinks>;

const adPlatform = Type.Object({
  name: Type.String(),
  click_links: Type.Boolean({ description: "The platform calls a link for each click" }),
  impression_links: Type.Boolean({ description: "The platform calls a link for each impression" }),
  has_own_macros: Type.Boolean({ description: "The platform's macros are known; otherwise common ones are used" }),
  postbacks: Type.Boolean({ description: "Accepts postbacks" }),
  costs: Type.Boolean({ description: "Costs can be pulled" }),
});
export type AdPlatform = Static<typeof adPlatform>;

const platformList = Type.Object({
  platforms: Type.Array(adPlatform),
  publishers: Type.Array(Type.String(), {
    description: "Platforms whose ads the app itself shows, and from which revenue can be pulled with an account",
  }),
});
export type PlatformList = Static<typeof platformList>;

export const platformListQuery = Type.Object({
  app_id: Type.Optional(
    Type.String({
      pattern: "^\\d{1,10}$",
      description: "Application id, to list the connectors that it has declared too",
    }),
  ),
});

export const campaignAnswer = envelopeSchema(campaign);
export const campaignListAnswer = envelopeSchema(campaignList);
export const campaignLinksAnswer = envelopeSchema(campaignLinks);
export const platformListAnswer = envelopeSchema(platformList);
