import { expect, test } from "vitest";
import type { PostbackRule } from "../../src/contract/setting/postback.ts";
import { PRESET_MOMENTS } from "../../src/domain/postback/moment-name.ts";
import { postbackRuleTexts, readPostbackRule } from "../../src/domain/postback/postback-rule-fields.ts";
import { draftOf, fieldsOf, NEW_RULE } from "../../web/src/pages/postbacks/rule-draft.ts";

const RULE = { moment: "pay", event_type: "pay" };

/** A rule as the server shows it. */
const shown = (given: object): PostbackRule => ({
  rule_id: 7,
  ...postbackRuleTexts(readPostbackRule({ ...RULE, ...given })),
});

test.each<[string, object]>([
  ["as it begins", {}],
  ["bounds", { amount: "600..5050", count: "1", days_since_touch: "..7" }],
  ["open bounds", { amount: "1..", count: "..3", days_since_touch: "0.." }],
  ["a share", { share: "12.5%", window: "7d", enabled: "off" }],
  ["a fixed value", { value: "fixed:601" }],
  ["a part", { value: "factor:0.0001" }],
  ["a part with a cap", { value: "factor:0.5,cap:10000" }],
  ["tests on properties", { properties: ['event$product equal "gold"', "user$vip is_set"] }],
  ["a platform and a campaign", { ad_platform: "vivo", turbo_promoted_object_id: "campaign-0000001" }],
  ["a code", { ad_platform: "bytedance", code: "update_level" }],
  ["an event of the app", { moment: "event:level_up", event_type: "key_active" }],
  ["retention", { moment: "retention_7", event_type: "retention_7d" }],
  ...PRESET_MOMENTS.map((moment): [string, object] => [moment, { moment }]),
])("a rule that is opened and saved stays the same: %s", (_, given) => {
  const { rule_id, ...fields } = shown(given);
  expect(fieldsOf(draftOf({ rule_id, ...fields }))).toEqual(fields);
});

test("a new rule is one that the server accepts, and amounts are typed in major units", () => {
  const typed = { ...NEW_RULE, amountFrom: "6.5", amountTo: "1000", valueKind: "fixed" as const, fixed: "0.01" };
  const read = readPostbackRule(fieldsOf(typed));
  expect(read).toMatchObject({ conditions: { amountCents: { min: 650, max: 100_000 } }, value: { cents: 1 } });
  expect(readPostbackRule(fieldsOf(NEW_RULE))).toMatchObject({ shareBp: 10_000, windowDays: 30, enabled: true });
});

test("a moment without amounts asks for none, and wrong input is left for the server to refuse", () => {
  expect(fieldsOf({ ...NEW_RULE, momentKind: "register", amountFrom: "6", countTo: "2" })).toMatchObject({
    moment: "register",
    amount: "",
    count: "",
  });
  const refused = (change: object) => () => readPostbackRule(fieldsOf({ ...NEW_RULE, ...change }));
  expect(refused({ amountFrom: "six" })).toThrow(/^amount must be bounds/);
  expect(refused({ share: "101" })).toThrow(/^share must be/);
  expect(refused({ window: "" })).toThrow(/^window must be/);
  expect(refused({ momentKind: "event", eventName: "1x" })).toThrow(/^moment must be/);
});
