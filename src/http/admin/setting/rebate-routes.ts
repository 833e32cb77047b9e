import type { FastifyInstance } from "fastify";
import { dropRebate, setRebate } from "../../../admin/setting/rebates.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  rebateAnswer,
  rebateListAnswer,
  rebateRemoveBody,
  rebateRemovedAnswer,
  rebateSetBody,
} from "../../../contract/setting/rebate.ts";
import { loadRebates } from "../../../db/rebate.ts";
import { shownRebate } from "../../../domain/rebate.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** What accounts get back of what their ads cost. */
export function rebateRoutes(routes: FastifyInstance, { pool, vault, apps, clock }: SettingContext): void {
  adminRoute(routes, {
    path: "rebates",
    summary: "Rebates of an app's accounts",
    access: "detail",
    query: appIdQuery,
    answer: rebateListAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return { rebates: (await loadRebates(pool, appId)).map(shownRebate) };
    },
  });

  adminRoute(routes, {
    path: "rebates/set",
    summary: "Set what an account gets back in a period",
    description:
      "Replaces the rebate of the same account and first day. Periods of an account must not overlap. `AdRealCost` is the cost × (1 − cash) ÷ (1 + credit), rounded for each row of costs; reports show it at once.",
    access: "operate",
    body: rebateSetBody,
    answer: rebateAnswer,
    run: async ({ body, by }) => setRebate({ pool, vault, clock, by }, body),
  });

  adminRoute(routes, {
    path: "rebates/remove",
    summary: "Remove a rebate",
    access: "operate",
    body: rebateRemoveBody,
    answer: rebateRemovedAnswer,
    run: async ({ body, by }) => dropRebate({ pool, vault, clock, by }, body),
  });
}
