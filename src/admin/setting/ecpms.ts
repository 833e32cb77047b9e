import type { Static } from "typebox";
import { ecpmRemoveBody, ecpmSetBody, type ShownEcpm } from "../../contract/setting/ecpm.ts";
import { type AppEcpm, loadEcpms, lockEcpms, removeEcpm, storeEcpm } from "../../db/ad-ecpm.ts";
import { noteAdRevenueChanges } from "../../db/ad-revenue-change.ts";
import { ecpmOverlapText, overlapOfEcpms, readEcpm, shownEcpm } from "../../domain/ad-revenue.ts";
import { ApiError, messageOf } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type SetBody = Static<typeof ecpmSetBody>;
type RemoveBody = Static<typeof ecpmRemoveBody>;

/** Sets what an ad unit earns in a period; replaces the eCPM of the same first day. */
export function setEcpm(desk: Desk, body: SetBody): Promise<ShownEcpm> {
  return act(desk, {
    action: "ecpms/set",
    schema: ecpmSetBody,
    body,
    run: async (tx) => {
      const ecpm = ecpmOf(body);
      const { appId, adUnit } = ecpm;
      await assertApps(tx, [appId]);
      await lockEcpms(tx, appId);
      const replaced = (await loadEcpms(tx, appId)).filter((one) => isSame(one, ecpm));
      await storeEcpm(tx, ecpm, desk.clock());
      const ecpms = await loadEcpms(tx, appId);
      if (ecpms.length > LIMITS.ecpmsPerApp)
        throw new ApiError("badParameter", `An app can have at most ${LIMITS.ecpmsPerApp} eCPMs.`);
      const overlap = overlapOfEcpms(ecpms);
      if (overlap) throw new ApiError("badParameter", `${ecpmOverlapText(overlap)}.`);
      const kind = "ecpm" as const;
      const changes = [...replaced, ecpm].map(({ fromDay, untilDay }) => ({ appId, adUnit, fromDay, untilDay, kind }));
      await noteAdRevenueChanges(tx, changes, desk.clock());
      return shownEcpm(ecpm);
    },
  });
}

export function dropEcpm(desk: Desk, body: RemoveBody): Promise<Record<string, never>> {
  return act(desk, {
    action: "ecpms/remove",
    schema: ecpmRemoveBody,
    body,
    run: async (tx) => {
      const { app_id: appId, ad_unit_id: adUnit, start_date: fromDay } = body;
      await assertApps(tx, [appId]);
      await lockEcpms(tx, appId);
      const removed = (await loadEcpms(tx, appId)).find((one) => isSame(one, { adUnit, fromDay }));
      if (!removed)
        throw new ApiError("badParameter", `App ${appId} has no eCPM of ad unit ${adUnit} from ${fromDay} on.`);
      await removeEcpm(tx, removed);
      const { untilDay } = removed;
      await noteAdRevenueChanges(tx, [{ appId, adUnit, fromDay, untilDay, kind: "ecpm" }], desk.clock());
      return {};
    },
  });
}

function isSame(one: AppEcpm, other: Pick<AppEcpm, "adUnit" | "fromDay">): boolean {
  return one.adUnit === other.adUnit && one.fromDay === other.fromDay;
}

function ecpmOf({ app_id: appId, end_date = "", ...given }: SetBody): AppEcpm {
  try {
    return { appId, ...readEcpm({ ...given, end_date }) };
  } catch (error) {
    throw new ApiError("badParameter", `${messageOf(error)}.`);
  }
}
