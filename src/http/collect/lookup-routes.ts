import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "../../clock.ts";
import { appAndClientQuery, appQuery, refreshBody, userGetAnswer, userGetBody } from "../../contract/collect/user.ts";
import { emptyData, envelopeSchema, success } from "../../contract/envelope.ts";
import { storeMediaToken } from "../../db/media-token.ts";
import { md5, readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import type { Vault } from "../../vault.ts";
import { bodyOf } from "./sent-call.ts";
import { findUserRecords, type RecordContext } from "./user-record.ts";

const BASE = "/event_center/api/v1";
const CLOCK_SKEW_S_MAX = 10;

export type LookupContext = RecordContext & { clock: Clock; vault: Vault };

/** User get and the refresh of a platform's access token, which both use the database directly. */
export function lookupRoutes(server: FastifyInstance, context: LookupContext): void {
  const answerFor = async (request: FastifyRequest, ids: string[]) =>
    success({ user_list: await findUserRecords(context, request.app, ids) });

  server.post(`${BASE}/user/get`, {
    schema: {
      summary: "User get",
      description: "Looks up as many as 100 clients. Unknown ids are left out.",
      tags: ["collection"],
      querystring: appQuery,
      body: userGetBody,
      response: { 200: userGetAnswer },
    },
    config: { collection: true, endpoint: "user/get", numbersAreIds: true },
    handler: (request) => {
      const ids = (bodyOf(request).user_list as (string | number)[]).map((id) => readClientId(id, "user_list"));
      return answerFor(request, ids);
    },
  });

  server.get(`${BASE}/user/get`, {
    schema: {
      summary: "User get, single",
      description: "The form that current SDKs call.",
      tags: ["collection of current SDKs"],
      querystring: appAndClientQuery,
      response: { 200: userGetAnswer },
    },
    config: { collection: true, endpoint: "user/get" },
    handler: (request) => answerFor(request, [readClientId((request.query as { client_id?: string }).client_id)]),
  });

  for (const path of ["base/wx/access_token/refresh", "base/media/access_token/refresh"]) {
    server.post(`${BASE}/${path}`, {
      schema: {
        summary: "Platform access-token refresh",
        description: "Hands over the latest access token of the mini-game platform. Stored encrypted, never logged.",
        tags: ["collection"],
        querystring: appQuery,
        body: refreshBody,
        response: { 200: envelopeSchema(emptyData) },
      },
      config: { collection: true, endpoint: path, hidesBody: true },
      handler: async (request) => {
        await refresh(context, request);
        return success({});
      },
    });
  }
}

async function refresh(
  context: Pick<LookupContext, "clock" | "pool" | "vault">,
  request: FastifyRequest,
): Promise<void> {
  const body = bodyOf(request) as { wx_access_token: string; current_time: number; sign: string };
  const nowMs = context.clock();
  if (Math.abs(body.current_time - nowMs / 1000) > CLOCK_SKEW_S_MAX) {
    throw new ApiError("clockSkew", "current_time is more than 10 seconds away from server time.");
  }
  const { appId, appKey } = request.app;
  const expected = md5(`app_key=${appKey}&wx_access_token=${body.wx_access_token}&current_time=${body.current_time}`);
  const given = Buffer.from(body.sign.toLowerCase());
  if (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected))) {
    throw new ApiError("badSign", "sign does not verify.");
  }
  await storeMediaToken(context.pool, context.vault, {
    appId,
    platform: "wechat",
    token: body.wx_access_token,
    refreshedAtMs: nowMs,
  });
}
