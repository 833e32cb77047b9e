import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { beginPull, readCostPlatform, stopPull } from "../../../admin/operation/cost-pulls.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  costDaysAnswer,
  costListQuery,
  costPullAnswer,
  costPullBody,
  costRowsAnswer,
  costStatusAnswer,
  costStatusQuery,
  type LastPull,
  lastPullAnswer,
  pullStopBody,
} from "../../../contract/admin/cost.ts";
import { PullDesk } from "../../../cost/pull-desk.ts";
import { askedPullRecord, pulledDayRecord, statusRecord } from "../../../cost/pull-record.ts";
import { loadCostAccounts, loadPulledDays, type PulledDay } from "../../../db/cost-pull.ts";
import { daysBetween } from "../../../domain/calendar.ts";
import { firstShownDay } from "../../../domain/cost-schedule.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import { type CostRange, listCostDays, listCostRows } from "../../../report/list/cost-list.ts";
import { PAGE_SIZE, type Page, readPage } from "../../../report/list/list-request.ts";
import { adminRoute } from "../admin-route.ts";
import { type Days, daysOf } from "../day-range.ts";
import { costFileRoutes } from "./cost-file-routes.ts";
import type { OperationContext } from "./operation-context.ts";
import { type RefundFileContext, refundFileRoutes } from "./refund-file-routes.ts";

type CostListQuery = Static<typeof costListQuery>;

/** Costs of ads: pulled from the platforms, imported from files, and listed as stored. */
export function adminCostRoutes(routes: FastifyInstance, context: OperationContext & RefundFileContext): void {
  pullRoutes(routes, context);
  statusRoute(routes, context);
  listRoutes(routes, context);
  const running = { previews: 0 };
  costFileRoutes(routes, context, running);
  refundFileRoutes(routes, context, running);
}

function pullRoutes(routes: FastifyInstance, context: OperationContext): void {
  const { pool, vault, apps, clock, log } = context;
  const pulls = new PullDesk(context.costs, clock);

  adminRoute(routes, {
    path: "cost/pull",
    summary: "Pull costs from the platforms now",
    description:
      "Answers when everything is pulled, or at once with `background`. An account's `error` says what went wrong with it.",
    access: "operate",
    body: costPullBody,
    answer: costPullAnswer,
    run: async ({ body, by, reply }) => {
      const { appId, timeZone } = await apps.findById(body.app_id);
      const { pull, ended } = await pulls.start(appId, () => beginPull({ pool, vault, clock, by }, body));
      if (body.background) {
        ended.catch((error: unknown) => log.warn({ app: appId, reason: String(error) }, "A pull of costs failed."));
        return askedPullRecord(pull, timeZone);
      }
      try {
        return askedPullRecord(await ended, timeZone);
      } catch (error) {
        if (!context.isStopping()) throw error;
        // An open connection would keep the server from stopping.
        reply.header("connection", "close");
        throw new ApiError("overloaded", "The server is stopping.", { retryAfterS: 5 });
      }
    },
  });

  const lastPull = async (appId: number): Promise<LastPull> => {
    const app = await apps.findById(appId);
    const pull = pulls.of(app.appId);
    return { pull: pull ? askedPullRecord(pull, app.timeZone) : null };
  };

  adminRoute(routes, {
    path: "cost/pull",
    summary: "Progress of the last requested pull",
    description: "Covers only pulls of the process that answers.",
    access: "detail",
    query: appIdQuery,
    answer: lastPullAnswer,
    run: async ({ query }) => lastPull(Number(query.app_id)),
  });

  adminRoute(routes, {
    path: "cost/pull/stop",
    summary: "Stop a requested pull",
    description: "Days that are already stored stay: a day is always stored whole.",
    access: "operate",
    body: pullStopBody,
    answer: lastPullAnswer,
    run: async ({ body, by }) => {
      await stopPull({ pool, vault, clock, by }, pulls, body);
      return lastPull(body.app_id);
    },
  });
}

function statusRoute(
  routes: FastifyInstance,
  { pool, apps, clock }: Pick<OperationContext, "pool" | "apps" | "clock">,
): void {
  adminRoute(routes, {
    path: "cost/status",
    summary: "How far the costs of each account have been pulled",
    access: "detail",
    query: costStatusQuery,
    answer: costStatusAnswer,
    run: async ({ query }) => {
      const { appId, timeZone } = await apps.findById(Number(query.app_id));
      const range = query.from === undefined && query.to === undefined ? undefined : readShownDays(query);
      const nowMs = clock();
      const accounts = await loadCostAccounts(pool, { fromDay: firstShownDay(nowMs), of: { appId } });
      const days = range ? await loadPulledDays(pool, { appId, ...range }) : [];
      const pulled = byAccount(days);
      const shown = accounts.map((account) => ({
        ...statusRecord(account, nowMs),
        days: (pulled.get(accountText(account)) ?? []).map((one) => pulledDayRecord(one, timeZone)),
      }));
      return { accounts: shown };
    },
  });
}

function byAccount(days: readonly PulledDay[]): Map<string, PulledDay[]> {
  const found = new Map<string, PulledDay[]>();
  for (const day of days) {
    const known = found.get(accountText(day));
    if (known) known.push(day);
    else found.set(accountText(day), [day]);
  }
  return found;
}

function accountText({ adPlatform, advertiserId }: Pick<PulledDay, "adPlatform" | "advertiserId">): string {
  return `${adPlatform} ${advertiserId}`;
}

function readShownDays({ from = "", to = "" }: Partial<Days>): { fromDay: string; toDay: string } {
  const range = daysOf({ from, to });
  if (daysBetween(range.fromDay, range.toDay) >= LIMITS.pullDaysShown) {
    throw new ApiError("badParameter", `At most ${LIMITS.pullDaysShown} days are shown at once.`);
  }
  return range;
}

function listRoutes(routes: FastifyInstance, context: OperationContext): void {
  const readList = async (query: CostListQuery): Promise<{ range: CostRange; timeZone: string; page: Page }> => {
    const { appId, timeZone } = await context.apps.findById(Number(query.app_id));
    const range = {
      appId,
      ...daysOf(query),
      adPlatform: namedIn(query.ad_platform, readCostPlatform),
      advertiserId: namedIn(query.advertiser_id, (id) => id),
    };
    const page = readPage({ page: Number(query.page ?? 1), page_size: Number(query.page_size ?? PAGE_SIZE) });
    return { range, timeZone, page };
  };

  adminRoute(routes, {
    path: "cost",
    summary: "Stored costs, by day and account",
    access: "report",
    query: costListQuery,
    answer: costDaysAnswer,
    run: async ({ query }) => {
      const { range, timeZone, page } = await readList(query);
      return context.reads.read(({ pool }) => listCostDays(pool, { ...range, timeZone }, page));
    },
  });

  adminRoute(routes, {
    path: "cost/rows",
    summary: "Stored costs, row by row",
    access: "report",
    query: costListQuery,
    answer: costRowsAnswer,
    run: async ({ query }) => {
      const { range, page } = await readList(query);
      return context.reads.read(({ pool }) => listCostRows(pool, range, page));
    },
  });
}

const UNNAMED = "-";

/** The value to filter by, or undefined for any value. */
function namedIn(text: string | undefined, read: (text: string) => string): string | undefined {
  return text === undefined ? undefined : read(text === UNNAMED ? "" : text);
}
