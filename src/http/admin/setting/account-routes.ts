import type { FastifyInstance } from "fastify";
import { dropAccount, setAccount } from "../../../admin/setting/accounts.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  accountAnswer,
  accountFieldsAnswer,
  accountFieldsQuery,
  accountListAnswer,
  accountRemoveBody,
  accountSetBody,
  givenUpAnswer,
} from "../../../contract/setting/account.ts";
import { listAccountFields, listAccounts } from "../../../outbound/account-view.ts";
import { adminRoute } from "../admin-route.ts";
import { askedConnectors } from "../asked-connectors.ts";
import type { SettingContext } from "./setting-context.ts";

/** Accounts at ad platforms, used to send postbacks and pull costs. */
export function accountRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock, config } = context;

  adminRoute(routes, {
    path: "accounts",
    summary: "Accounts of an app at ad platforms, without their secrets",
    access: "detail",
    query: appIdQuery,
    answer: accountListAnswer,
    run: async ({ query }) => {
      const app = await apps.findById(Number(query.app_id));
      return { accounts: await listAccounts(pool, vault, app, clock()) };
    },
  });

  adminRoute(routes, {
    path: "accounts/fields",
    summary: "Fields of an account at a platform",
    access: "detail",
    apps: "some",
    query: accountFieldsQuery,
    answer: accountFieldsAnswer,
    run: async ({ query }) => ({
      fields: listAccountFields(query.ad_platform, await askedConnectors(context, query)),
    }),
  });

  adminRoute(routes, {
    path: "accounts/set",
    summary: "Create or change an account",
    description:
      "Absent fields stay as they are. When the account holds secrets, a new address (`url`, `callback_hosts` …) needs them again, or empty texts to remove them: a secret is never sent to an address that it was not given for.",
    access: "setting",
    body: accountSetBody,
    answer: accountAnswer,
    run: async ({ body, by }) => {
      const desk = { pool, vault, clock, by, mayCallPrivate: config.platformPrivateNetworks };
      return setAccount(desk, body);
    },
  });

  adminRoute(routes, {
    path: "accounts/remove",
    summary: "Remove an account",
    description: "Postbacks still waiting for it are marked as failed; `given_up` counts them.",
    access: "setting",
    body: accountRemoveBody,
    answer: givenUpAnswer,
    run: async ({ body, by }) => dropAccount({ pool, vault, clock, by }, body),
  });
}
