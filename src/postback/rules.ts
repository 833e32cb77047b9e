import { loadCampaign } from "../db/campaign.ts";
import type { Executor } from "../db/engine/sql.ts";
import { loadPostbackRules } from "../db/postback-rule.ts";
import type { PostbackRule } from "../domain/postback/postback-rule.ts";
import {
  type GivenRule,
  type PostbackRuleTexts,
  postbackRuleTexts,
  type RuleParts,
  readPostbackRule,
} from "../domain/postback/postback-rule-fields.ts";
import { ApiError } from "../errors.ts";
import { loadConnectors } from "../outbound/connectors.ts";
import type { Connectors } from "../platform/connectors.ts";
import { platformNamed } from "../platform/registry.ts";

/** A rule as shown to people: its number, and each part as the text that sets it. */
export type ShownRule = { rule_id: number } & PostbackRuleTexts;

export function shownRule({ ruleId, ...rule }: PostbackRule): ShownRule {
  return { rule_id: ruleId, ...postbackRuleTexts(rule) };
}

export async function listRules(executor: Executor, appId: number): Promise<ShownRule[]> {
  return (await loadPostbackRules(executor, [appId])).map(shownRule);
}

export type RuleKey = { appId: number; ruleId: number };

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
  const adPlatform = readPostbackPlatform(rule.adPlatform, await loadConnectors(executor, appId));
  const { campaignId } = rule;
  if (campaignId !== "" && !(await loadCampaign(executor, { appId, campaignId }))) {
    throw bad(`App ${appId} has no campaign ${JSON.stringify(campaignId)}.`);
  }
  return { ...rule, adPlatform };
}

/** The platform's own name, or the empty text unchanged. */
function readPostbackPlatform(text: string, connectors: Connectors): string {
  if (text === "") return "";
  const name = platformNamed(text.toLowerCase())?.name ?? text.toLowerCase();
  if (connectors.postbackOf(name)) return name;
  throw bad(
    `ad_platform must be one of ${connectors.postbackPlatforms.join(", ")}; no other platform accepts postbacks.`,
  );
}

export function noSuchRule({ appId, ruleId }: RuleKey): ApiError {
  return bad(`App ${appId} has no rule ${ruleId}.`);
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
