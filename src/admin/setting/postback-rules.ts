import type { Static } from "typebox";
import { ruleChangeBody, ruleCreateBody, ruleOrderBody, ruleRemoveBody } from "../../contract/setting/postback.ts";
import {
  createPostbackRule,
  loadPostbackRules,
  lockPostbackRule,
  orderPostbackRules,
  removePostbackRule,
  storePostbackRule,
} from "../../db/postback-rule.ts";
import type { GivenRule } from "../../domain/postback/postback-rule-fields.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { listRules, noSuchRule, readRule, type ShownRule, shownRule } from "../../postback/rules.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type RuleBody = Static<typeof ruleRemoveBody>;

/** Adds a postback rule after the existing ones. */
export function addRule(desk: Desk, body: { app_id: number } & GivenRule): Promise<ShownRule> {
  return act(desk, {
    action: "postback/rules/create",
    schema: ruleCreateBody,
    body,
    run: async (tx) => {
      const { app_id: appId } = body;
      await assertApps(tx, [appId]);
      const parts = await readRule(tx, appId, body);
      if ((await loadPostbackRules(tx, [appId])).length >= LIMITS.rulesPerApp)
        throw new ApiError("badParameter", `An app can have at most ${LIMITS.rulesPerApp} rules; remove one first.`);
      return shownRule(await createPostbackRule(tx, { appId, ...parts }, desk.clock()));
    },
  });
}

/** Changes the parts that the body names; the others stay as they are. */
export function changeRule(desk: Desk, body: RuleBody & GivenRule): Promise<ShownRule> {
  return act(desk, {
    action: "postback/rules/edit",
    schema: ruleChangeBody,
    body,
    run: async (tx) => {
      const key = { appId: body.app_id, ruleId: body.rule_id };
      await assertApps(tx, [key.appId]);
      const known = await lockPostbackRule(tx, key);
      if (!known) throw noSuchRule(key);
      const changed = { ...known, ...(await readRule(tx, key.appId, body, known)) };
      await storePostbackRule(tx, changed, desk.clock());
      return shownRule(changed);
    },
  });
}

export function dropRule(desk: Desk, body: RuleBody): Promise<void> {
  return act(desk, {
    action: "postback/rules/remove",
    schema: ruleRemoveBody,
    body,
    run: async (tx) => {
      const key = { appId: body.app_id, ruleId: body.rule_id };
      await assertApps(tx, [key.appId]);
      if (!(await removePostbackRule(tx, key))) throw noSuchRule(key);
    },
  });
}

/** Sets the order in which all rules of the app are tried. */
export function orderRules(desk: Desk, body: Static<typeof ruleOrderBody>): Promise<ShownRule[]> {
  return act(desk, {
    action: "postback/rules/order",
    schema: ruleOrderBody,
    body,
    run: async (tx) => {
      const { app_id: appId, rule_ids: ruleIds } = body;
      await assertApps(tx, [appId]);
      if (!(await orderPostbackRules(tx, { appId, ruleIds, changedAtMs: desk.clock() }))) {
        const message = `rule_ids must name each rule of app ${appId} once; the rules may have changed meanwhile.`;
        throw new ApiError("badParameter", message);
      }
      return listRules(tx, appId);
    },
  });
}
