import type { Static } from "typebox";
import { campaignChangeBody, campaignCreateBody } from "../../contract/setting/campaign.ts";
import {
  type Campaign,
  type CampaignChange,
  changeCampaign,
  createCampaign,
  loadCampaign,
  newCampaignId,
} from "../../db/campaign.ts";
import { ApiError } from "../../errors.ts";
import { platformOfLink } from "../../platform/registry.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type CreateBody = Static<typeof campaignCreateBody>;
type ChangeBody = Static<typeof campaignChangeBody>;
type Fields = Omit<ChangeBody, "app_id" | "turbo_promoted_object_id">;

const BLANK = { name: "", adPlatform: "", channel: "", osPlatform: "", operator: "", dept: "" };

/**
 * Creates a campaign of an app. The id is generated here unless given, so that the audit log names it in either case.
 */
export function addCampaign(desk: Desk, given: CreateBody): Promise<Campaign> {
  const { turbo_promoted_object_id = newCampaignId() } = given;
  const body = { ...given, turbo_promoted_object_id };
  return act(desk, {
    action: "campaigns/create",
    schema: campaignCreateBody,
    body,
    run: async (tx) => {
      await assertApps(tx, [body.app_id]);
      const campaign: Campaign = {
        ...BLANK,
        ...changeOf(body),
        appId: body.app_id,
        campaignId: turbo_promoted_object_id,
        createdAtMs: desk.clock(),
      };
      if (!(await createCampaign(tx, campaign)))
        throw new ApiError("badParameter", "The app already has a campaign with this turbo_promoted_object_id.");
      return campaign;
    },
  });
}

/** Changes the fields that the body names; the others stay as they are. */
export function editCampaign(desk: Desk, body: ChangeBody): Promise<Campaign> {
  return act(desk, {
    action: "campaigns/edit",
    schema: campaignChangeBody,
    body,
    run: async (tx) => {
      await assertApps(tx, [body.app_id]);
      const key = { appId: body.app_id, campaignId: body.turbo_promoted_object_id };
      await changeCampaign(tx, key, changeOf(body));
      const changed = await loadCampaign(tx, key);
      if (!changed) throw noCampaign(key);
      return changed;
    },
  });
}

export function noCampaign({ appId, campaignId }: Pick<Campaign, "appId" | "campaignId">): ApiError {
  const named = JSON.stringify(campaignId);
  return new ApiError("badParameter", `turbo_promoted_object_id: app ${appId} has no campaign ${named}.`);
}

function changeOf(body: Fields): CampaignChange {
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
