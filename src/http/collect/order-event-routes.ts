import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  consumerEventBody,
  consumerEventQuery,
  handleEventBody,
  postbackInfoQuery,
} from "../../contract/collect/order-events.ts";
import { appAndClientQuery } from "../../contract/collect/user.ts";
import { emptyData, envelopeSchema, success } from "../../contract/envelope.ts";
import { readUserToken } from "../../domain/access/user-token.ts";
import { assertShallow, type JsonObject } from "../../domain/json.ts";
import { readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import { acceptAboutClient } from "./client-routes.ts";
import { bodyOf, type SentContext } from "./sent-call.ts";

const BASE = "/event_center/api/v1";
const emptyAnswer = envelopeSchema(emptyData);

/** `userTokenKey` signs the tokens of users. */
export type OrderEventContext = SentContext & { userTokenKey: Buffer };

/** Single events of older clients; a payment among them becomes an order. */
export function orderEventRoutes(server: FastifyInstance, context: OrderEventContext): void {
  const tokenKey = context.userTokenKey;

  server.post(`${BASE}/event/consumer_event`, {
    schema: {
      summary: "Consumer event",
      description: "Deprecated: use event/collect. PAY becomes an order.",
      deprecated: true,
      tags: ["collection"],
      querystring: consumerEventQuery,
      body: consumerEventBody,
      response: { 200: emptyAnswer },
    },
    config: { collection: true, endpoint: "event/consumer_event" },
    handler: async (request) => {
      await acceptAboutClient(context, request, "consumer_event", { client: consumerOf(request, tokenKey) });
      return success({});
    },
  });

  server.post(`${BASE}/event/handle_event`, {
    schema: {
      summary: "Handle event",
      description: "A conversion event of older SDKs. `pay` becomes an order.",
      tags: ["collection of older SDKs"],
      querystring: appAndClientQuery,
      body: handleEventBody,
      response: { 200: emptyAnswer },
    },
    config: { collection: true, endpoint: "event/handle_event", numbersAreIds: true },
    handler: async (request) => {
      assertShallow(bodyOf(request), "The body");
      await acceptAboutClient(context, request, "handle_event");
      return success({});
    },
  });

  const postbackInfo = {
    tags: ["collection of current SDKs"],
    querystring: postbackInfoQuery,
    response: { 200: emptyAnswer },
  };
  server.get(`${BASE}/event/postback_info`, {
    schema: {
      ...postbackInfo,
      summary: "Postback info",
      description: "Postbacks are sent by the server: the list for the client is empty.",
    },
    config: { collection: true, endpoint: "event/postback_info" },
    handler: async () => success({ postback_list: [], click_company: "", retry: 0 }),
  });
  server.post(`${BASE}/event/postback_info`, {
    schema: {
      ...postbackInfo,
      summary: "Postback info, confirmation",
      description: "Accepted; there is nothing to confirm.",
    },
    config: { collection: true, endpoint: "event/postback_info" },
    handler: async () => success({}),
  });
}

function consumerOf(request: FastifyRequest, tokenKey: Buffer): string {
  const { token, client_id } = request.query as JsonObject;
  if (typeof client_id === "string" && client_id !== "") return readClientId(client_id);
  if (typeof token !== "string" || token === "") throw new ApiError("badParameter", "token or client_id is missing.");
  const user = readUserToken(tokenKey, token);
  if (!user || user.appId !== request.app.appId)
    throw new ApiError("badParameter", "token is not a user token of this app.");
  return readClientId(user.clientId);
}
