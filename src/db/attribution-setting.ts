import type { RuleSettings, Rules } from "../domain/attribution/attribution-rules.ts";
import { isOf, tellSettingsChanged } from "./app.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

export type AppRuleSettings = RuleSettings & { appId: number };

export async function loadRuleSettings(executor: Executor, appIds?: readonly number[]): Promise<AppRuleSettings[]> {
  return query<AppRuleSettings>(
    executor,
    sql`select app_id, ad_platform as platform, rules from attribution_setting where ${isOf(appIds)}
      order by app_id, ad_platform`,
  );
}

/** Replaces the rules of an app (empty `platform`) or of one of its platforms. Empty rules restore the defaults. */
export async function storeRuleSettings(
  executor: Executor,
  setting: { appId: number; platform: string; rules: Partial<Rules>; changedAtMs: number },
): Promise<void> {
  await execute(
    executor,
    sql`insert into attribution_setting (app_id, ad_platform, rules, changed_at_ms)
      values (${setting.appId}, ${setting.platform}, ${JSON.stringify(setting.rules)}, ${setting.changedAtMs})
      on conflict (app_id, ad_platform) do update set rules = excluded.rules, changed_at_ms = excluded.changed_at_ms`,
  );
  await tellSettingsChanged(executor, [setting.appId]);
}
