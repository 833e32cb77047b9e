import type { FastifyInstance } from "fastify";
import {
  type ListName,
  listFieldsAnswer,
  listFieldsQuery,
  type OrdersBody,
  ordersBody,
  type UsersBody,
  usersBody,
} from "../../../contract/admin/admin-list.ts";
import { success } from "../../../contract/envelope.ts";
import { orderListAnswer, userListAnswer } from "../../../contract/report/list-record.ts";
import { loadPropertyMeta } from "../../../db/metadata.ts";
import { ORGANIC } from "../../../domain/attribution/attribution.ts";
import { PLATFORM_NAMES } from "../../../platform/registry.ts";
import { fieldsOfList } from "../../../report/list/list-fields.ts";
import { readOrderList, runOrderList } from "../../../report/list/order-list.ts";
import { readUserList, runUserList } from "../../../report/list/user-list.ts";
import type { AdminReportContext } from "./admin-report-context.ts";

const BASE = "/admin/api/v1/report";

/** The lists of orders and of users for whoever is signed in, and what they can be asked for. */
export function listRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  const { apps } = context;

  routes.post(`${BASE}/orders`, {
    schema: {
      summary: "Order list, for the console",
      description: "The order list of the public interface without its signature and its rate limit.",
      ...{ tags: ["admin"], body: ordersBody, response: { 200: orderListAnswer } },
    },
    config: { access: "read" },
    handler: async (request) => {
      const body = request.body as OrdersBody;
      const app = await apps.findById(body.app_id);
      return success(await runOrderList(context.reportPool(), readOrderList(body, app)));
    },
  });

  routes.post(`${BASE}/users`, {
    schema: {
      summary: "User list, for the console",
      description: "The user list of the public interface without its signature and its rate limit.",
      ...{ tags: ["admin"], body: usersBody, response: { 200: userListAnswer } },
    },
    config: { access: "read" },
    handler: async (request) => {
      const body = request.body as UsersBody;
      const app = await apps.findById(body.app_id);
      return success(await runUserList(context.reportPool(), readUserList(body, app), app));
    },
  });

  routes.get(`${BASE}/fields`, {
    schema: {
      summary: "What a list can be filtered, sorted and looked at by",
      description: "Made from the tables that the lists themselves are made from, and from the app's own properties.",
      ...{ tags: ["admin"], querystring: listFieldsQuery, response: { 200: listFieldsAnswer } },
    },
    handler: async (request) => {
      const query = request.query as { app_id: string; list: ListName };
      const { appId } = await apps.findById(Number(query.app_id));
      const properties = await loadPropertyMeta(context.pool, [appId]);
      return success(fieldsOfList(query.list, { platforms: [ORGANIC, ...PLATFORM_NAMES], properties }));
    },
  });
}
