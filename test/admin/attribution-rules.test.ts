import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { changeRules, setRules } from "../../src/admin/setting/attribution-rules.ts";
import { loadRuleSettings } from "../../src/db/attribution-setting.ts";
import { loadPlatformSecrets } from "../../src/db/platform-secret.ts";
import { vault } from "../db/temp-database.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

const secrets = async () => (await loadPlatformSecrets(stage.pool, vault, [app_id])).get(app_id);

test("setting and changing rules logs all rules then in force, and no key", async () => {
  await setRules(stage.desk, { app_id, rules: { min_gap: "5s", impressions: "on" } });
  await setRules(stage.desk, { app_id, rules: { min_gap: "5s" } });
  await changeRules(stage.desk, { app_id, rules: { click_window: "3d" } });
  const baidu = { app_id, ad_platform: "baidu" };
  await changeRules(stage.desk, { ...baidu, rules: { click_window: "1d" }, akey: "hidden-by-the-log" });
  await changeRules(stage.desk, { app_id, rules: {}, reset: true });
  expect(await secrets()).toEqual(new Map([["baidu akey", "hidden-by-the-log"]]));
  const audit = (await stage.audit()).slice(1);
  expect(audit.map(({ action, appId }) => ({ action, appId }))).toEqual(
    Array(5).fill({ action: "attribution/rules", appId: app_id }),
  );
  expect(audit.map(({ details }) => details)).toEqual([
    { app_id, rules: { min_gap: "5s", impressions: "on" } },
    { app_id, rules: { min_gap: "5s" } },
    { app_id, rules: { min_gap: "5s", click_window: "3d" } },
    { ...baidu, rules: { click_window: "1d" }, akey: "…" },
    { app_id, rules: {} },
  ]);
  await changeRules(stage.desk, { ...baidu, rules: {}, akey: "" });
  expect(await secrets()).toBeUndefined();
});

test("neither rules nor a key change if that cannot be logged", async () => {
  const before = await loadRuleSettings(stage.pool, [app_id]);
  await stage.withoutAuditLog(async () => {
    const change = { app_id, ad_platform: "baidu", rules: { click_window: "2d" }, akey: "k" };
    await expect(changeRules(stage.desk, change)).rejects.toThrow(/audit_log/);
  });
  expect(await loadRuleSettings(stage.pool, [app_id])).toEqual(before);
  expect(await secrets()).toBeUndefined();
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["an unknown app", () => setRules(stage.desk, { app_id: 99, rules: {} }), /no app 99/],
  ["a bad value", () => setRules(stage.desk, { app_id, rules: { click_window: "7" } }), /^click_window must/],
  ["an unknown platform", () => setRules(stage.desk, { app_id, ad_platform: "natural", rules: {} }), /^ad_platform/],
  ["a change of an unknown app", () => changeRules(stage.desk, { app_id: 99, rules: {} }), /no app 99/],
  ["a bad change", () => changeRules(stage.desk, { app_id, rules: { min_gap: "x" } }), /^min_gap must/],
  ["a key of another platform", () => changeRules(stage.desk, { app_id, rules: {}, akey: "k" }), /^akey needs/],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const state = async () => [await loadRuleSettings(stage.pool, [app_id]), await stage.count("audit_log")];
  const before = await state();
  await expect(refused()).rejects.toThrow(sentence);
  expect(await state()).toEqual(before);
});
