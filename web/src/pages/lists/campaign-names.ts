import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";

type Campaigns = { campaigns: { turbo_promoted_object_id: string; name: string }[] };

/** What people call the campaigns of an app; a campaign without a name is called by its id. */
export function useCampaignNames(appId: number): (id: string) => string {
  const { data } = useQuery({
    queryKey: ["campaigns", appId],
    queryFn: () => get<Campaigns>("campaigns", { app_id: appId }),
    staleTime: 60_000,
  });
  const names = new Map(data?.campaigns.map(({ turbo_promoted_object_id: id, name }) => [id, name]));
  return (id) => names.get(id) || id;
}
