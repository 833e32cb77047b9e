import { type Static, Type } from "typebox";
import { type RulesBody, rulesBody } from "../../contract/setting/attribution-rule.ts";
import { type AppRuleSettings, loadRuleSettings, storeRuleSettings } from "../../db/attribution-setting.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { storePlatformSecret } from "../../db/platform-secret.ts";
import type { Rules } from "../../domain/attribution/attribution-rules.ts";
import { readRules, ruleTexts } from "../../domain/attribution/rule-fields.ts";
import { ApiError, messageOf } from "../../errors.ts";
import { platformOfLink } from "../../platform/registry.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

/** Sets the rules of an app, or of one of its platforms. They replace all rules set before. */
export function setRules(desk: Desk, body: RulesBody): Promise<AppRuleSettings[]> {
  return act(desk, {
    action: "attribution/rules",
    schema: rulesBody,
    body,
    run: async (tx) => {
      await assertApps(tx, [body.app_id]);
      const platform = readRulePlatform(body.ad_platform);
      return storeRules(tx, desk, { appId: body.app_id, platform, rules: readGivenRules(body.rules, platform) });
    },
  });
}

const ruleChange = Type.Object({
  ...rulesBody.properties,
  /** Whether to drop the rules set before. */
  reset: Type.Optional(Type.Boolean()),
  /** Baidu's key, which signs its clicks; the empty text removes it. */
  akey: Type.Optional(Type.String()),
});

/** Changes the named rules and keeps the others. The log keeps all rules that are set then, as for `setRules`. */
export async function changeRules(desk: Desk, body: Static<typeof ruleChange>): Promise<AppRuleSettings[]> {
  const { app_id: appId, ad_platform, akey } = body;
  const platform = readRulePlatform(ad_platform);
  const rulesIn = (settings: readonly AppRuleSettings[]) => settings.find((one) => one.platform === platform)?.rules;
  return act(desk, {
    action: "attribution/rules",
    schema: ruleChange,
    body,
    noted: (settings) => ({ app_id: appId, ad_platform, rules: ruleTexts(rulesIn(settings) ?? {}), akey }),
    run: async (tx) => {
      await assertApps(tx, [appId]);
      const given = readGivenRules(body.rules, platform);
      if (akey !== undefined) await storeAkey(tx, desk, { appId, platform, value: akey });
      const known = body.reset ? {} : rulesIn(await loadRuleSettings(tx, [appId]));
      return storeRules(tx, desk, { appId, platform, rules: { ...known, ...given } });
    },
  });
}

/** The platform's own name; the empty text for the whole app. */
export function readRulePlatform(name = ""): string {
  const platform = name === "" ? "" : platformOfLink(name)?.name;
  if (platform === undefined) throw new ApiError("badParameter", "ad_platform is not the name of a platform.");
  return platform;
}

/** Reads rules that are set for a platform, or with the empty text for the whole app. */
export function readGivenRules(texts: Readonly<Record<string, string>>, platform: string): Partial<Rules> {
  try {
    return readRules(texts, platform);
  } catch (error) {
    throw new ApiError("badParameter", messageOf(error));
  }
}

async function storeRules(
  tx: Executor,
  { clock }: Pick<Desk, "clock">,
  setting: { appId: number; platform: string; rules: Partial<Rules> },
): Promise<AppRuleSettings[]> {
  await storeRuleSettings(tx, { ...setting, changedAtMs: clock() });
  return loadRuleSettings(tx, [setting.appId]);
}

async function storeAkey(
  tx: Executor,
  { vault }: Pick<Desk, "vault">,
  secret: { appId: number; platform: string; value: string },
): Promise<void> {
  if (secret.platform !== "baidu") throw new ApiError("badParameter", "akey needs ad_platform baidu.");
  await storePlatformSecret(tx, vault, { ...secret, name: "akey" });
}
