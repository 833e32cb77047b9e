import type { FastifyInstance } from "fastify";
import { checkConnector, dropConnector, listConnectors, setConnector } from "../../../admin/setting/connectors.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { emptyData, envelopeSchema } from "../../../contract/envelope.ts";
import {
  connectorAnswer,
  connectorCheckAnswer,
  connectorCheckBody,
  connectorListAnswer,
  connectorRemoveBody,
  connectorSetBody,
} from "../../../contract/setting/connector.ts";
import { LIMITS } from "../../../limits.ts";
import { PLACEHOLDERS } from "../../../platform/declared/placeholder.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** Connectors that apps declare for platforms that have none in the program. */
export function connectorRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock, config } = context;
  const mayCallPrivate = config.platformPrivateNetworks;

  adminRoute(routes, {
    path: "connectors",
    summary: "Connectors that an app has declared, and the placeholders",
    access: "detail",
    query: appIdQuery,
    answer: connectorListAnswer,
    run: async ({ query }) => {
      const app = await apps.findById(Number(query.app_id));
      const placeholders = PLACEHOLDERS.map(({ name, hint }) => ({ name, hint }));
      return { connectors: await listConnectors(pool, vault, app), placeholders };
    },
  });

  adminRoute(routes, {
    path: "connectors/check",
    summary: "Check a declared connector, without storing or sending anything",
    description:
      "Shows the call for each event type, with made-up values or about a user (`client_id`), and how a given answer would be read. The account's values are always made up.",
    access: "detail",
    body: connectorCheckBody,
    reading: { bytesMax: LIMITS.settingsBodyBytes, numbersAreIds: true },
    answer: connectorCheckAnswer,
    run: async ({ body }) => checkConnector({ pool, clock, mayCallPrivate }, body),
  });

  adminRoute(routes, {
    path: "connectors/set",
    summary: "Declare how a platform takes postbacks",
    description:
      "For platforms without a connector in the program; replaces the app's declaration for the platform. Accounts, rules, tests and dry runs then work as for every other platform. Secrets belong to the account, as `{account.NAME}`. While accounts hold secrets, the address stays.",
    access: "setting",
    body: connectorSetBody,
    answer: connectorAnswer,
    run: async ({ body, by }) => setConnector({ pool, vault, clock, by, mayCallPrivate }, body),
  });

  adminRoute(routes, {
    path: "connectors/remove",
    summary: "Remove a declared connector",
    description: "Its accounts must be removed first.",
    access: "setting",
    body: connectorRemoveBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body, by }) => dropConnector({ pool, vault, clock, by }, body),
  });
}
