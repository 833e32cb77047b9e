import type { FastifyInstance } from "fastify";
import { setShares, shownShares } from "../../../admin/setting/shares.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { shareListAnswer, shareSetBody } from "../../../contract/setting/share.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** What is left of payments after the store's cut. */
export function shareRoutes(routes: FastifyInstance, { pool, vault, apps, clock }: SettingContext): void {
  adminRoute(routes, {
    path: "shares",
    summary: "Share rules of an app",
    access: "detail",
    query: appIdQuery,
    answer: shareListAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return shownShares(pool, vault, appId);
    },
  });

  adminRoute(routes, {
    path: "shares/set",
    summary: "Set all share rules of an app",
    description:
      "Replaces the app's list. The first rule that fits a payment says which share of it counts in `roi_version` 2 and `AppGamePayNetAmount`; where none fits, `pay_share` does. A refund goes by the rule of its order. Two rules with the same conditions must not overlap, and a rule that can never count is refused. Payments are counted anew at once.",
    access: "setting",
    body: shareSetBody,
    answer: shareListAnswer,
    run: async ({ body, by }) => setShares({ pool, vault, clock, by }, body),
  });
}
