import { useQuery } from "@tanstack/react-query";
import type { CampaignList } from "../../../../src/contract/setting/campaign.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";

/** The newest ones: whoever has more campaigns sees the ids of the oldest. */
const CAMPAIGNS_MAX = 500;

/** What people call the values of the interface; the values themselves where they have no name for them. */
export type ValueNames = {
  platform: (name: string) => string;
  campaign: (id: string) => string;
  campaignIds: readonly string[];
};

export function useValueNames(): ValueNames {
  const { app_id } = useApp();
  const platform = usePlatformName();
  const { data } = useQuery({
    // Below the campaigns, so that whoever changes one sees its new name.
    queryKey: ["campaigns", app_id, "names"],
    queryFn: () => get<CampaignList>("campaigns", { app_id, page_size: CAMPAIGNS_MAX }),
    staleTime: 300_000,
  });
  const names = new Map(data?.campaigns.map(({ turbo_promoted_object_id: id, name }) => [id, name]));
  return { platform, campaign: (id) => names.get(id) || id, campaignIds: [...names.keys()] };
}

/** How the values of a filter are called. */
export function namesOfFilter(filter: string, names: ValueNames): ((value: string) => string) | undefined {
  if (filter === "ad_platform_list") return names.platform;
  return filter === "turbo_promoted_object_id_list" ? names.campaign : undefined;
}
