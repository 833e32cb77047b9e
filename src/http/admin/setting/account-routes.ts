import type { FastifyInstance } from "fastify";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { success } from "../../../contract/envelope.ts";
import {
  type Account,
  type AccountFields,
  type AccountList,
  accountAnswer,
  accountFieldsAnswer,
  accountFieldsQuery,
  accountListAnswer,
  accountRemoveBody,
  accountSetBody,
  type GivenUp,
  givenUpAnswer,
} from "../../../contract/setting/account.ts";
import { dropAccount, listAccountFields, listAccounts, setAccount } from "../../../outbound/accounts.ts";
import type { SettingContext } from "./setting-context.ts";

const BASE = "/admin/api/v1/accounts";

type Values = Record<string, string>;
type KeyBody = { app_id: number; ad_platform: string; advertiser_id?: string };
type SetBody = KeyBody & { settings?: Values; secrets?: Values; postbacks?: string; costs?: string; rate?: number };

/** Accounts at ad platforms, by which postbacks are sent and costs are pulled. */
export function accountRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock, config } = context;

  routes.get(BASE, {
    schema: {
      summary: "Accounts of an app at ad platforms, without their secrets",
      ...{ tags: ["admin"], querystring: appIdQuery, response: { 200: accountListAnswer } },
    },
    handler: async (request) => {
      const app = await apps.findById(Number((request.query as Values).app_id));
      return success({ accounts: await listAccounts(pool, vault, app) } satisfies AccountList);
    },
  });

  routes.get(`${BASE}/fields`, {
    schema: {
      summary: "What an account at a platform can be told",
      ...{ tags: ["admin"], querystring: accountFieldsQuery, response: { 200: accountFieldsAnswer } },
    },
    handler: async (request) => {
      const fields = listAccountFields((request.query as KeyBody).ad_platform);
      return success({ fields } satisfies AccountFields);
    },
  });

  routes.post(`${BASE}/set`, {
    schema: {
      summary: "Make or change an account",
      description:
        "What is absent stays as it is. Where the account holds secrets, a new address (`url`, `callback_hosts` …) needs them again, or the empty text, which takes them away: they never go to an address that they were not given for.",
      ...{ tags: ["admin"], body: accountSetBody, response: { 200: accountAnswer } },
    },
    handler: async (request) => {
      const { app_id, rate, ...body } = request.body as SetBody;
      const app = await apps.findById(app_id);
      const given = { ...body, ...keyOf(body), rate: rate === undefined ? undefined : String(rate) };
      const deps = { pool, vault, nowMs: clock(), mayCallPrivate: config.platformPrivateNetworks };
      return success((await setAccount(deps, app, given)) satisfies Account);
    },
  });

  routes.post(`${BASE}/remove`, {
    schema: {
      summary: "Remove an account",
      description: "What still waits for it is given up; `given_up` says how many.",
      ...{ tags: ["admin"], body: accountRemoveBody, response: { 200: givenUpAnswer } },
    },
    handler: async (request) => {
      const body = request.body as KeyBody;
      const { appId } = await apps.findById(body.app_id);
      return success((await dropAccount({ pool, nowMs: clock() }, appId, keyOf(body))) satisfies GivenUp);
    },
  });
}

function keyOf({ ad_platform, advertiser_id }: Omit<KeyBody, "app_id">) {
  return { adPlatform: ad_platform, advertiserId: advertiser_id };
}
