import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { addRule, changeRule, dropRule, orderRules } from "../../src/admin/setting/postback-rules.ts";
import { listRules } from "../../src/postback/rules.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const PAY = { moment: "pay", event_type: "pay" };
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

const rules = () => listRules(stage.pool, app_id);
const idsNow = async () => (await rules()).map(({ rule_id }) => rule_id);

test("adding, changing, reordering and removing a rule is logged with its author", async () => {
  const { rule_id } = await addRule(stage.desk, { app_id, ...PAY, share: "80%" });
  expect(await changeRule(stage.desk, { app_id, rule_id, share: "50%" })).toMatchObject({ ...PAY, share: "50%" });
  const rule_ids = [rule_id, ...(await idsNow()).filter((id) => id !== rule_id)];
  const ordered = await orderRules(stage.desk, { app_id, rule_ids });
  expect(ordered.map((rule) => rule.rule_id)).toEqual(rule_ids);
  await dropRule(stage.desk, { app_id, rule_id });
  expect(await idsNow()).toEqual(rule_ids.slice(1));
  expect((await stage.audit()).slice(1)).toEqual([
    { action: "postback/rules/create", appId: app_id, details: { app_id, ...PAY, share: "80%" } },
    { action: "postback/rules/edit", appId: app_id, details: { app_id, rule_id, share: "50%" } },
    { action: "postback/rules/order", appId: app_id, details: { app_id, rule_ids } },
    { action: "postback/rules/remove", appId: app_id, details: { app_id, rule_id } },
  ]);
});

test("no rule changes if that cannot be logged", async () => {
  const [before, rule_ids] = [await rules(), await idsNow()];
  const key = { app_id, rule_id: rule_ids[0]! };
  await stage.withoutAuditLog(async () => {
    for (const change of [
      () => addRule(stage.desk, { app_id, ...PAY }),
      () => changeRule(stage.desk, { ...key, share: "1%" }),
      () => orderRules(stage.desk, { app_id, rule_ids: rule_ids.toReversed() }),
      () => dropRule(stage.desk, key),
    ])
      await expect(change()).rejects.toThrow(/audit_log/);
  });
  expect(await rules()).toEqual(before);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["an unknown app", () => addRule(stage.desk, { app_id: 99, ...PAY }), /no app 99/],
  ["a rule without a moment", () => addRule(stage.desk, { app_id, event_type: "pay" }), /moment/],
  ["a bad share", () => addRule(stage.desk, { app_id, ...PAY, share: "all" }), /^share must/],
  ["an unknown campaign", () => addRule(stage.desk, { app_id, ...PAY, turbo_promoted_object_id: "x" }), /no campaign/],
  ["a change of none", () => changeRule(stage.desk, { app_id, rule_id: 999, share: "1%" }), /has no rule 999/],
  ["an order of some", () => orderRules(stage.desk, { app_id, rule_ids: [] }), /^rule_ids must name each rule/],
  ["the removal of none", () => dropRule(stage.desk, { app_id, rule_id: 999 }), /has no rule 999/],
  ["an unknown app's removal", () => dropRule(stage.desk, { app_id: 99, rule_id: 1 }), /no app 99/],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const before = [await rules(), await stage.count("audit_log")];
  await expect(refused()).rejects.toThrow(sentence);
  expect([await rules(), await stage.count("audit_log")]).toEqual(before);
});
