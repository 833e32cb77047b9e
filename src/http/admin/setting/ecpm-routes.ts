import type { FastifyInstance } from "fastify";
import { dropEcpm, setEcpm } from "../../../admin/setting/ecpms.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  ecpmAnswer,
  ecpmListAnswer,
  ecpmRemoveBody,
  ecpmRemovedAnswer,
  ecpmSetBody,
} from "../../../contract/setting/ecpm.ts";
import { loadEcpms } from "../../../db/ad-ecpm.ts";
import { shownEcpm } from "../../../domain/ad-revenue.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** What ad units are estimated to earn. */
export function ecpmRoutes(routes: FastifyInstance, { pool, vault, apps, clock }: SettingContext): void {
  adminRoute(routes, {
    path: "ecpms",
    summary: "eCPMs of an app's ad units",
    access: "detail",
    query: appIdQuery,
    answer: ecpmListAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return { ecpms: (await loadEcpms(pool, appId)).map(shownEcpm) };
    },
  });

  adminRoute(routes, {
    path: "ecpms/set",
    summary: "Set what an ad unit earns in a period",
    description:
      "Replaces the eCPM of the same ad unit and first day. Periods of an ad unit must not overlap. Each `$AdShow` of the unit without an `$ecpm` of its own then earns a thousandth of it; reports are recounted at once.",
    access: "operate",
    body: ecpmSetBody,
    answer: ecpmAnswer,
    run: async ({ body, by }) => setEcpm({ pool, vault, clock, by }, body),
  });

  adminRoute(routes, {
    path: "ecpms/remove",
    summary: "Remove an eCPM",
    access: "operate",
    body: ecpmRemoveBody,
    answer: ecpmRemovedAnswer,
    run: async ({ body, by }) => dropEcpm({ pool, vault, clock, by }, body),
  });
}
