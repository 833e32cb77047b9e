import type { FastifyInstance } from "fastify";
import { whyQuery } from "../../../contract/admin/admin.ts";
import { fraudAnswer, fraudQuery } from "../../../contract/admin/fraud.ts";
import { whyAnswer } from "../../../contract/admin/why.ts";
import { readClientId } from "../../../domain/user/identity.ts";
import { ApiError } from "../../../errors.ts";
import { fraudReport } from "../../../report/attribution/fraud.ts";
import { explainUser } from "../../../report/attribution/why.ts";
import { adminRoute } from "../admin-route.ts";
import { daysOf } from "../day-range.ts";
import type { AdminReportContext } from "./admin-report-context.ts";

/** Why users were attributed as they were, and what looks like fraud. */
export function attributionRoutes(
  routes: FastifyInstance,
  { pool, apps }: Pick<AdminReportContext, "pool" | "apps">,
): void {
  adminRoute(routes, {
    path: "attribution/why",
    summary: "Why a user belongs to a platform, or to none",
    access: "detail",
    query: whyQuery,
    answer: whyAnswer,
    run: async ({ query }) => {
      const app = await apps.findById(Number(query.app_id));
      const explanation = await explainUser(pool, app, readClientId(query.client_id));
      if (!explanation) throw new ApiError("notRegistered", "There is no user with this client_id.");
      return explanation;
    },
  });

  adminRoute(routes, {
    path: "attribution/fraud",
    summary: "Signs of fraud",
    access: "report",
    query: fraudQuery,
    answer: fraudAnswer,
    run: async ({ query }) => fraudReport(pool, await apps.findById(Number(query.app_id)), daysOf(query)),
  });
}
