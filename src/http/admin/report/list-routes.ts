import type { FastifyInstance } from "fastify";
import { listFieldsAnswer, listFieldsQuery, ordersBody, usersBody } from "../../../contract/admin/admin-list.ts";
import { refundedOrderListAnswer, userListAnswer } from "../../../contract/report/list-record.ts";
import { loadPropertyMeta } from "../../../db/metadata.ts";
import { ORGANIC } from "../../../domain/attribution/attribution.ts";
import { PLATFORM_NAMES } from "../../../platform/registry.ts";
import { fieldsOfList } from "../../../report/list/list-fields.ts";
import { readOrderList, runOrderList, withRefunds } from "../../../report/list/order-list.ts";
import { readUserList, runUserList } from "../../../report/list/user-list.ts";
import { adminRoute } from "../admin-route.ts";
import type { AdminReportContext } from "./admin-report-context.ts";
import { segmentClients } from "./lake-question.ts";

/** The lists of orders and users for the console, and the fields they offer. */
export function listRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  const { apps } = context;

  adminRoute(routes, {
    path: "report/orders",
    summary: "Order list, for the console",
    description:
      "The order list of the public interface without its signature and its rate limit, with the refunds of each order, and filtered by segments, too.",
    access: "detail",
    body: ordersBody,
    answer: refundedOrderListAnswer,
    run: async ({ body, request }) => {
      const app = await apps.findById(body.app_id);
      const asked = readOrderList(body, app, await segmentClients(context, request, body));
      return context.reads.read(async ({ pool }) => {
        const answer = await runOrderList(pool, asked);
        return { ...answer, list: await withRefunds(pool, answer.list, app) };
      });
    },
  });

  adminRoute(routes, {
    path: "report/users",
    summary: "User list, for the console",
    description:
      "The user list of the public interface without its signature and its rate limit, and filtered by segments, too.",
    access: "detail",
    body: usersBody,
    answer: userListAnswer,
    run: async ({ body, request }) => {
      const app = await apps.findById(body.app_id);
      const asked = readUserList(body, app, await segmentClients(context, request, body));
      return context.reads.read(({ pool }) => runUserList(pool, asked, app));
    },
  });

  adminRoute(routes, {
    path: "report/fields",
    summary: "Fields by which a list can be filtered and sorted, and its columns",
    description: "Derived from the same definitions as the lists, and from the app's own properties.",
    access: "detail",
    query: listFieldsQuery,
    answer: listFieldsAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      const properties = await loadPropertyMeta(context.pool, [appId]);
      return fieldsOfList(query.list, { platforms: [ORGANIC, ...PLATFORM_NAMES], properties });
    },
  });
}
