import type { FastifyInstance } from "fastify";
import { adminAnswer, appIdQuery } from "../contract/admin.ts";
import { costPullBody } from "../contract/admin-report.ts";
import { success } from "../contract/envelope.ts";
import { accountsOf, askedDays, pullRecord, statusRecord } from "../cost/pull-record.ts";
import { loadCostAccounts } from "../db/cost-pull.ts";
import { calendarOf, isDay } from "../domain/calendar.ts";
import { firstScheduledDay } from "../domain/cost-schedule.ts";
import { ApiError } from "../errors.ts";
import { platformOfLink } from "../platform/registry.ts";
import type { HttpContext } from "./context.ts";

const BASE = "/admin/api/v1/cost";

type PullBody = { app_id: number; ad_platform?: string; advertiser_id?: string; from?: string; to?: string };

/** What ads cost, from the platforms themselves. */
export function adminCostRoutes(routes: FastifyInstance, context: HttpContext): void {
  const { pool, apps, clock, costs } = context;
  let isPulling = false;

  routes.post(`${BASE}/pull`, {
    schema: {
      summary: "Pull costs from the platforms now",
      description: "Answers when all is pulled. `error` of an account says what went wrong with it.",
      ...{ tags: ["admin"], body: costPullBody, response: { 200: adminAnswer } },
    },
    handler: async (request, reply) => {
      const body = request.body as PullBody;
      const { appId, timeZone } = await apps.findById(body.app_id);
      const plan = askedDays({ from: dayOf(body.from), to: dayOf(body.to) }, calendarOf(timeZone).dayOf(clock()));
      if (plan.kind === "wrong") throw new ApiError("badParameter", plan.problem);
      const asked = { adPlatform: platformOf(body.ad_platform ?? ""), advertiserId: body.advertiser_id ?? "" };
      const accounts = accountsOf(
        await loadCostAccounts(pool, { fromDay: firstScheduledDay(clock()), of: { appId } }),
        asked,
      );
      if (accounts.length === 0) throw new ApiError("badParameter", "The app has no such account with costs on.");
      if (isPulling) throw new ApiError("overloaded", "Costs are being pulled; try again.", { retryAfterS: 10 });
      isPulling = true;
      try {
        return success({ accounts: (await costs.pull(accounts, plan)).map(pullRecord) });
      } catch (error) {
        if (!context.isStopping()) throw error;
        // A connection that is kept would keep the server.
        reply.header("connection", "close");
        throw new ApiError("overloaded", "The server is stopping.", { retryAfterS: 5 });
      } finally {
        isPulling = false;
      }
    },
  });

  routes.get(`${BASE}/status`, {
    schema: {
      summary: "How far the costs of each account are pulled",
      ...{ tags: ["admin"], querystring: appIdQuery, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const { appId } = await apps.findById(Number((request.query as { app_id: string }).app_id));
      const accounts = await loadCostAccounts(pool, { fromDay: firstScheduledDay(clock()), of: { appId } });
      return success({ accounts: accounts.map(statusRecord) });
    },
  });
}

function dayOf(text: string | undefined): string | undefined {
  if (text !== undefined && !isDay(text)) throw new ApiError("badParameter", `${text} is not a day.`);
  return text;
}

function platformOf(text: string): string {
  const platform = text === "" ? undefined : platformOfLink(text);
  if (text !== "" && !platform) throw new ApiError("badParameter", "ad_platform is not the name of a platform.");
  return platform?.name ?? "";
}
