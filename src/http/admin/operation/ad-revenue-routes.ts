import type { FastifyInstance } from "fastify";
import { adRevenueAnswer, adRevenueQuery } from "../../../contract/admin/ad-revenue.ts";
import { listAdRevenue } from "../../../report/list/ad-revenue-list.ts";
import { PAGE_SIZE, readPage } from "../../../report/list/list-request.ts";
import { adminRoute } from "../admin-route.ts";
import { daysOf } from "../day-range.ts";
import type { OperationContext } from "./operation-context.ts";

/** What ads inside the app earned. */
export function adRevenueRoutes(routes: FastifyInstance, { apps, reads }: OperationContext): void {
  adminRoute(routes, {
    path: "ad-revenue",
    summary: "What platforms say that ad units earned, and what the reports count",
    description:
      "By day and ad unit, newest days first; one row a day for what a platform tells by player. Ads that name no unit are only among the latter.",
    access: "report",
    query: adRevenueQuery,
    answer: adRevenueAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      const page = readPage({ page: Number(query.page ?? 1), page_size: Number(query.page_size ?? PAGE_SIZE) });
      const wish = { appId, ...daysOf(query), adUnit: query.ad_unit_id };
      return reads.read(({ pool }) => listAdRevenue(pool, wish, page));
    },
  });
}
