import { useQuery } from "@tanstack/react-query";
import type { CampaignList } from "../../../../src/contract/setting/campaign.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";

/** Only the newest campaigns have names here; older ones are shown by id. */
const CAMPAIGNS_MAX = 500;

/** Display names of the interface's values; a value without a name is shown as it is. */
export type ValueNames = {
  platform: (name: string) => string;
  campaign: (id: string) => string;
  campaignIds: readonly string[];
};

export function useValueNames(): ValueNames {
  const { app_id } = useApp();
  const platform = usePlatformName();
  const { data } = useQuery({
    // The key begins with "campaigns", so that renaming a campaign refreshes this query too.
    queryKey: ["campaigns", app_id, "names"],
    queryFn: () => get<CampaignList>("campaigns", { app_id, page_size: CAMPAIGNS_MAX }),
    staleTime: 300_000,
  });
  const names = new Map(data?.campaigns.map(({ turbo_promoted_object_id: id, name }) => [id, name]));
  return { platform, campaign: (id) => names.get(id) || id, campaignIds: [...names.keys()] };
}

/** The display names of a filter's values. */
export function namesOfFilter(filter: string, names: ValueNames): ((value: string) => string) | undefined {
  if (filter === "ad_platform_list") return names.platform;
  return filter === "turbo_promoted_object_id_list" ? names.campaign : undefined;
}
