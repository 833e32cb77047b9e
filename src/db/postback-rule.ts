import { DEFAULT_RULES, DEFAULT_WINDOW_DAYS, type PostbackRule } from "../domain/postback/postback-rule.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

const columns = sql`rule_id, app_id, ad_platform, turbo_promoted_object_id as campaign_id, moment, event_type, code,
  conditions, share_bp, value, window_days, enabled`;

export type NewPostbackRule = Omit<PostbackRule, "ruleId">;

/** Rules in the order in which they are tried. */
export async function loadPostbackRules(executor: Executor, appIds: readonly number[]): Promise<PostbackRule[]> {
  if (appIds.length === 0) return [];
  return query<PostbackRule>(
    executor,
    sql`select ${columns} from postback_rule where app_id = any(${appIds}::int[]) order by app_id, position, rule_id`,
  );
}

/** Creates a rule after the existing ones. */
export async function createPostbackRule(
  executor: Executor,
  rule: NewPostbackRule,
  changedAtMs: number,
): Promise<PostbackRule> {
  const [row] = await query<PostbackRule>(
    executor,
    sql`insert into postback_rule (app_id, ad_platform, turbo_promoted_object_id, moment, event_type, code, conditions, share_bp, value,
        window_days, enabled, changed_at_ms, position)
      select ${rule.appId}::int, ${rule.adPlatform}::text, ${rule.campaignId}::text, ${rule.moment}::text,
        ${rule.eventType}::text, ${rule.code}::text, ${JSON.stringify(rule.conditions)}::jsonb, ${rule.shareBp}::int, ${JSON.stringify(rule.value)}::jsonb,
        ${rule.windowDays}::int, ${rule.enabled}::boolean, ${changedAtMs}::bigint, coalesce(max(position), 0) + 1
      from postback_rule where app_id = ${rule.appId}
      returning ${columns}`,
  );
  return row!;
}

/** Returns false when the app has no such rule. */
export async function storePostbackRule(executor: Executor, rule: PostbackRule, changedAtMs: number): Promise<boolean> {
  const changed = await execute(
    executor,
    sql`update postback_rule set ad_platform = ${rule.adPlatform}, turbo_promoted_object_id = ${rule.campaignId},
        moment = ${rule.moment}, event_type = ${rule.eventType}, code = ${rule.code}, conditions = ${JSON.stringify(rule.conditions)},
        share_bp = ${rule.shareBp}, value = ${JSON.stringify(rule.value)}, window_days = ${rule.windowDays},
        enabled = ${rule.enabled}, changed_at_ms = ${changedAtMs}
      where app_id = ${rule.appId} and rule_id = ${rule.ruleId}`,
  );
  return changed > 0;
}

/** Returns false when the app has no such rule. */
export async function removePostbackRule(
  executor: Executor,
  rule: { appId: number; ruleId: number },
): Promise<boolean> {
  const removed = await execute(
    executor,
    sql`delete from postback_rule where app_id = ${rule.appId} and rule_id = ${rule.ruleId}`,
  );
  return removed > 0;
}

/** Reorders an app's rules. False unless each of its rules is named exactly once. Must run in a transaction. */
export async function orderPostbackRules(
  tx: Executor,
  order: { appId: number; ruleIds: readonly number[]; changedAtMs: number },
): Promise<boolean> {
  const { appId, ruleIds, changedAtMs } = order;
  const known = await query<{ ruleId: number }>(
    tx,
    sql`select rule_id from postback_rule where app_id = ${appId} order by rule_id for update`,
  );
  const sorted = [...ruleIds].sort((left, right) => left - right);
  if (known.length !== sorted.length || known.some(({ ruleId }, at) => ruleId !== sorted[at])) return false;
  const wanted = rowsOf("wanted", ruleIds, {
    ruleId: ["int", (ruleId) => ruleId],
    position: ["int", (_, index) => index + 1],
  });
  await execute(
    tx,
    sql`update postback_rule set position = wanted.position, changed_at_ms = ${changedAtMs} from ${wanted}
      where postback_rule.app_id = ${appId} and postback_rule.rule_id = wanted.rule_id`,
  );
  return true;
}

/** The rules that a new app starts with. */
export async function createDefaultRules(executor: Executor, appId: number, changedAtMs: number): Promise<void> {
  for (const preset of DEFAULT_RULES) {
    const rule: NewPostbackRule = {
      appId,
      adPlatform: "",
      campaignId: "",
      code: "",
      conditions: {},
      shareBp: 10_000,
      value: { kind: "as_is" },
      windowDays: DEFAULT_WINDOW_DAYS,
      enabled: true,
      ...preset,
    };
    await createPostbackRule(executor, rule, changedAtMs);
  }
}

/** Locks a rule: other changes to it wait until the transaction ends. */
export async function lockPostbackRule(
  tx: Executor,
  key: { appId: number; ruleId: number },
): Promise<PostbackRule | undefined> {
  const [rule] = await query<PostbackRule>(
    tx,
    sql`select ${columns} from postback_rule where app_id = ${key.appId} and rule_id = ${key.ruleId} for update`,
  );
  return rule;
}
