import type pg from "pg";
import { loadCampaign } from "../db/campaign.ts";
import { inTransaction } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import {
  createPostbackRule,
  loadPostbackRules,
  lockPostbackRule,
  orderPostbackRules,
  removePostbackRule,
  storePostbackRule,
} from "../db/postback-rule.ts";
import type { PostbackRule } from "../domain/postback/postback-rule.ts";
import {
  type GivenRule,
  type PostbackRuleTexts,
  postbackRuleTexts,
  type RuleParts,
  readPostbackRule,
} from "../domain/postback/postback-rule-fields.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { POSTBACK_PLATFORMS, platformNamed } from "../platform/registry.ts";

/** A rule as shown to people: its number, and each part as the text that sets it. */
export type ShownRule = { rule_id: number } & PostbackRuleTexts;

export function shownRule({ ruleId, ...rule }: PostbackRule): ShownRule {
  return { rule_id: ruleId, ...postbackRuleTexts(rule) };
}

export async function listRules(executor: Executor, appId: number): Promise<ShownRule[]> {
  return (await loadPostbackRules(executor, [appId])).map(shownRule);
}

export async function addRule(pool: pg.Pool, appId: number, given: GivenRule, nowMs: number): Promise<ShownRule> {
  return inTransaction(pool, async (tx) => {
    const parts = await readRule(tx, appId, given);
    if ((await loadPostbackRules(tx, [appId])).length >= LIMITS.rulesPerApp) {
      throw bad(`An app can have at most ${LIMITS.rulesPerApp} rules; remove one first.`);
    }
    return shownRule(await createPostbackRule(tx, { appId, ...parts }, nowMs));
  });
}

export type RuleKey = { appId: number; ruleId: number };

export async function changeRule(pool: pg.Pool, key: RuleKey, given: GivenRule, nowMs: number): Promise<ShownRule> {
  return inTransaction(pool, async (tx) => {
    const known = await lockPostbackRule(tx, key);
    if (!known) throw noSuchRule(key);
    const changed = { ...known, ...(await readRule(tx, key.appId, given, known)) };
    await storePostbackRule(tx, changed, nowMs);
    return shownRule(changed);
  });
}

export async function dropRule(pool: pg.Pool, key: RuleKey): Promise<void> {
  if (!(await removePostbackRule(pool, key))) throw noSuchRule(key);
}

/** Sets the order in which all rules of the app are tried. */
export async function orderRules(
  pool: pg.Pool,
  appId: number,
  ruleIds: readonly number[],
  nowMs: number,
): Promise<ShownRule[]> {
  return inTransaction(pool, async (tx) => {
    if (!(await orderPostbackRules(tx, { appId, ruleIds, changedAtMs: nowMs }))) {
      throw bad(`rule_ids must name each rule of app ${appId} once; the rules may have changed meanwhile.`);
    }
    return listRules(tx, appId);
  });
}

/** A rule to try: an existing one with the given parts changed, or without a number a new one. Nothing is stored. */
export async function triedRule(
  executor: Executor,
  appId: number,
  { ruleId, given }: { ruleId: number | undefined; given: GivenRule },
): Promise<PostbackRule> {
  if (ruleId === undefined) return { ruleId: 0, appId, ...(await readRule(executor, appId, given)) };
  const known = (await loadPostbackRules(executor, [appId])).find((rule) => rule.ruleId === ruleId);
  if (!known) throw noSuchRule({ appId, ruleId });
  return { ...known, ...(await readRule(executor, appId, given, known)) };
}

/** Reads a rule, and checks it against the tables and the connectors, too. */
export async function readRule(
  executor: Executor,
  appId: number,
  given: GivenRule,
  known?: RuleParts,
): Promise<RuleParts> {
  const rule = readPostbackRule(given, known);
  const adPlatform = readPostbackPlatform(rule.adPlatform);
  const { campaignId } = rule;
  if (campaignId !== "" && !(await loadCampaign(executor, { appId, campaignId }))) {
    throw bad(`App ${appId} has no campaign ${JSON.stringify(campaignId)}.`);
  }
  return { ...rule, adPlatform };
}

/** The platform's own name, or the empty text unchanged. */
function readPostbackPlatform(text: string): string {
  if (text === "") return "";
  const name = platformNamed(text.toLowerCase())?.name ?? text;
  if (POSTBACK_PLATFORMS.includes(name)) return name;
  throw bad(`ad_platform must be one of ${POSTBACK_PLATFORMS.join(", ")}; no other platform accepts postbacks.`);
}

function noSuchRule({ appId, ruleId }: RuleKey): ApiError {
  return bad(`App ${appId} has no rule ${ruleId}.`);
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
