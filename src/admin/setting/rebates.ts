import type { Static } from "typebox";
import { rebateRemoveBody, rebateSetBody, type ShownRebate } from "../../contract/setting/rebate.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadRebates, lockRebates, removeRebate, storeRebates } from "../../db/rebate.ts";
import { overlapOf, overlapText, type Rebate, readRebate, shownRebate } from "../../domain/rebate.ts";
import { ApiError, messageOf } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { platformOfLink } from "../../platform/registry.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type SetBody = Static<typeof rebateSetBody>;
type RemoveBody = Static<typeof rebateRemoveBody>;

/** Sets what an account gets back in a period; replaces the rebate of the same first day. */
export function setRebate(desk: Desk, body: SetBody): Promise<ShownRebate> {
  return act(desk, {
    action: "rebates/set",
    schema: rebateSetBody,
    body,
    run: async (tx) => {
      await assertApps(tx, [body.app_id]);
      const rebate = rebateOf(body);
      await changeRebates(tx, body.app_id, () => storeRebates(tx, [{ ...rebate, appId: body.app_id }], desk.clock()));
      return shownRebate(rebate);
    },
  });
}

export function dropRebate(desk: Desk, body: RemoveBody): Promise<Record<string, never>> {
  return act(desk, {
    action: "rebates/remove",
    schema: rebateRemoveBody,
    body,
    run: async (tx) => {
      const { app_id: appId, ad_platform, advertiser_id: advertiserId, start_date: fromDay } = body;
      await assertApps(tx, [appId]);
      const key = { appId, adPlatform: platformOf(ad_platform), advertiserId, fromDay };
      if (!(await removeRebate(tx, key)))
        throw new ApiError("badParameter", `App ${appId} has no rebate of this account from ${fromDay} on.`);
      return {};
    },
  });
}

/** Changes the rebates of an app, unless two of an account would then hold on the same day. */
export async function changeRebates<Done>(tx: Executor, appId: number, change: () => Promise<Done>): Promise<Done> {
  await lockRebates(tx, appId);
  const done = await change();
  const rebates = await loadRebates(tx, appId);
  if (rebates.length > LIMITS.rebatesPerApp)
    throw new ApiError("badParameter", `An app can have at most ${LIMITS.rebatesPerApp} rebates.`);
  const overlap = overlapOf(rebates);
  if (overlap) throw new ApiError("badParameter", `${overlapText(overlap)}.`);
  return done;
}

function rebateOf(body: SetBody): Rebate {
  const { app_id: _app, end_date = "", cash_percent = 0, credit_percent = 0, ...key } = body;
  const ad_platform = platformOf(body.ad_platform);
  try {
    return readRebate({ ...key, ad_platform, end_date, cash_percent, credit_percent });
  } catch (error) {
    throw new ApiError("badParameter", `${messageOf(error)}.`);
  }
}

function platformOf(text: string): string {
  const platform = platformOfLink(text);
  if (!platform) throw new ApiError("badParameter", "ad_platform is not the name of a platform.");
  return platform.name;
}
