import { newRows } from "./engine/rows.ts";
import { type Executor, execute, sql } from "./engine/sql.ts";

/** A plan or an ad that was seen in a touch or at a user of a campaign. */
export type AdCampaign = {
  appId: number;
  adPlatform: string;
  level: "plan" | "ad";
  objectId: string;
  campaignId: string;
};

/** Inserts new pairs; known ones stay as they are. */
export async function noteAdCampaigns(tx: Executor, seen: readonly AdCampaign[]): Promise<void> {
  if (seen.length === 0) return;
  const fresh = newRows(tx, "new", seen, {
    appId: "int",
    adPlatform: "text",
    level: "text",
    objectId: "text",
    campaignId: "text",
  });
  await execute(
    tx,
    sql`insert into ad_campaign (app_id, ad_platform, level, object_id, turbo_promoted_object_id)
      select * from ${fresh}
      order by 1, 2, 3, 4, 5 on conflict do nothing`,
  );
}
