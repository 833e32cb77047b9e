import type { Static } from "typebox";
import { type ShareList, shareSetBody } from "../../contract/setting/share.ts";
import { markSlices } from "../../db/dirty-day.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadPaymentSlices, loadShareRules, replaceShareRules } from "../../db/share-rule.ts";
import { readShareRules, type ShareRule, shownShareRule } from "../../domain/user/share-rule.ts";
import { ApiError, messageOf } from "../../errors.ts";
import type { Vault } from "../../vault.ts";
import { knownApp } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type SetBody = Static<typeof shareSetBody>;

/** Replaces an app's share rules. All payments are counted anew. */
export function setShares(desk: Desk, body: SetBody): Promise<ShareList> {
  return act(desk, {
    action: "shares/set",
    schema: shareSetBody,
    body,
    run: async (tx) => {
      const { appId } = await knownApp(tx, desk.vault, body.app_id);
      await replaceShareRules(tx, appId, rulesOf(body));
      await markSlices(tx, await loadPaymentSlices(tx, appId), desk.clock());
      return shownShares(tx, desk.vault, appId);
    },
  });
}

export async function shownShares(executor: Executor, vault: Vault, appId: number): Promise<ShareList> {
  const { payShareBp } = await knownApp(executor, vault, appId);
  return { pay_share: payShareBp / 10_000, rules: (await loadShareRules(executor, appId)).map(shownShareRule) };
}

const ANY = { os_platform: "", channel: "", pay_method: "", is_virtual: null, start_date: "", end_date: "" };

function rulesOf({ rules }: SetBody): ShareRule[] {
  try {
    return readShareRules(rules.map((rule) => ({ ...ANY, ...rule })));
  } catch (error) {
    throw new ApiError("badParameter", `${messageOf(error)}.`);
  }
}
