import type { FastifyInstance } from "fastify";
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
import { dropAccount, listAccountFields, listAccounts, setAccount } from "../../../outbound/accounts.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** Accounts at ad platforms, used to send postbacks and pull costs. */
export function accountRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock, config } = context;

  adminRoute(routes, {
    path: "accounts",
    summary: "Accounts of an app at ad platforms, without their secrets",
    access: "read",
    query: appIdQuery,
    answer: accountListAnswer,
    run: async ({ query }) => {
      const app = await apps.findById(Number(query.app_id));
      return { accounts: await listAccounts(pool, vault, app) };
    },
  });

  adminRoute(routes, {
    path: "accounts/fields",
    summary: "Fields of an account at a platform",
    access: "read",
    query: accountFieldsQuery,
    answer: accountFieldsAnswer,
    run: async ({ query }) => ({ fields: listAccountFields(query.ad_platform) }),
  });

  adminRoute(routes, {
    path: "accounts/set",
    summary: "Create or change an account",
    description:
      "Absent fields stay as they are. When the account holds secrets, a new address (`url`, `callback_hosts` …) needs them again, or empty texts to remove them: a secret is never sent to an address that it was not given for.",
    access: "change",
    body: accountSetBody,
    answer: accountAnswer,
    run: async ({ body }) => {
      const { app_id, rate, ...rest } = body;
      const app = await apps.findById(app_id);
      const given = { ...rest, ...keyOf(body), rate: rate === undefined ? undefined : String(rate) };
      const deps = { pool, vault, nowMs: clock(), mayCallPrivate: config.platformPrivateNetworks };
      return setAccount(deps, app, given);
    },
  });

  adminRoute(routes, {
    path: "accounts/remove",
    summary: "Remove an account",
    description: "Postbacks still waiting for it are marked as failed; `given_up` counts them.",
    access: "change",
    body: accountRemoveBody,
    answer: givenUpAnswer,
    run: async ({ body }) => {
      const { appId } = await apps.findById(body.app_id);
      return dropAccount({ pool, nowMs: clock() }, appId, keyOf(body));
    },
  });
}

function keyOf({ ad_platform, advertiser_id }: { ad_platform: string; advertiser_id?: string }) {
  return { adPlatform: ad_platform, advertiserId: advertiser_id };
}
