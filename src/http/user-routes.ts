import type { FastifyInstance, FastifyRequest } from "fastify";
import { LIMITS } from "../config.ts";
import { emptyData, envelopeSchema, success } from "../contract/envelope.ts";
import {
  appAndClientQuery,
  appQuery,
  attributedBody,
  deviceInfo,
  deviceInfoBody,
  initializeBody,
  registerBody,
  resetClientIdBody,
  tokenAnswer,
  updateDataBody,
} from "../contract/user.ts";
import { deviceOf, readDeviceData } from "../domain/device.ts";
import { assertShallow, isObject, type JsonObject } from "../domain/json.ts";
import { makeUserToken } from "../domain/user-token.ts";
import { ApiError } from "../errors.ts";
import type { EntryHead, EntryKind } from "../journal/entry.ts";
import { PLATFORM_NAMES, platformNamed } from "../platform/registry.ts";
import { bodyOf, type HttpContext, headOf, readClientId, requireRegistered } from "./context.ts";
import { findUserRecords } from "./user-record.ts";
import { messageOfInvalid } from "./validation.ts";

const BASE = "/event_center/api/v1";
const emptyAnswer = envelopeSchema(emptyData);

/** The operations about a user: each goes into the journal, and the user is in the tables a moment later. */
export function userRoutes(server: FastifyInstance, context: HttpContext): void {
  const tokenKey = context.vault.keyFor("user-token");
  const config = (endpoint: string) => ({ collection: true, endpoint, numbersAreIds: true });

  const register = async (request: FastifyRequest, kind: "register" | "initialize" | "attributed") => {
    const clientId = readClientId(bodyOf(request).client_id);
    assertAdData(bodyOf(request));
    await acceptRegistration(context, request, kind, clientId);
    return { clientId, token: makeUserToken(tokenKey, { appId: request.app.appId, clientId }) };
  };

  server.post(`${BASE}/user/register`, {
    schema: {
      summary: "User register",
      description: "Makes a client known. Calling it again updates name, version, ids and device.",
      tags: ["collection"],
      querystring: appQuery,
      body: registerBody,
      response: { 200: tokenAnswer },
    },
    config: config("user/register"),
    handler: async (request) => success({ token: (await register(request, "register")).token }),
  });

  server.post(`${BASE}/user/register/attributed`, {
    schema: {
      summary: "Attributed user register",
      description: "For users whose platform is already known. Unknown values are empty texts, never null.",
      tags: ["collection"],
      querystring: appQuery,
      body: attributedBody,
      response: { 200: tokenAnswer },
    },
    config: config("user/register/attributed"),
    handler: async (request) => {
      assertPlatform(bodyOf(request));
      return success({ token: (await register(request, "attributed")).token });
    },
  });

  server.post(`${BASE}/user/initialize`, {
    schema: {
      summary: "User initialize",
      description: "The successor of register in current SDKs.",
      tags: ["collection of current SDKs"],
      querystring: appAndClientQuery,
      body: initializeBody,
      response: { 200: tokenAnswer },
    },
    config: config("user/initialize"),
    handler: async (request) => {
      const { clientId, token } = await register(request, "initialize");
      if (bodyOf(request).need_return_attribution !== true) return success({ token });
      // The registration is safe by now; without the database the answer only lacks the attribution.
      const records = await findUserRecords(context.pool, request.app, [clientId]).catch(() => []);
      return success({ token, ...records[0] });
    },
  });

  server.post(`${BASE}/user/device_info`, {
    schema: {
      summary: "Device info",
      description: "Adds the device of a registered client, encrypted with the app's aes key or plain.",
      tags: ["collection"],
      querystring: appAndClientQuery,
      body: deviceInfoBody,
      response: { 200: emptyAnswer },
    },
    config: config("user/device_info"),
    handler: async (request) => {
      const data = readDeviceData(bodyOf(request).data, request.app.aesKey);
      const invalid = messageOfInvalid(deviceInfo, data);
      if (invalid) throw new ApiError("badParameter", `data: ${invalid}`);
      await acceptAboutClient(context, request, "device_info", Buffer.from(JSON.stringify({ data: deviceOf(data) })));
      return success({});
    },
  });

  server.post(`${BASE}/user/reset_client_id`, {
    schema: {
      summary: "Reset client id",
      description: "Gives a registered client a new id. An id that is already taken is refused.",
      tags: ["collection of current SDKs"],
      querystring: appAndClientQuery,
      body: resetClientIdBody,
      response: { 200: emptyAnswer },
    },
    config: config("user/reset_client_id"),
    handler: async (request) => {
      const newClientId = readClientId(bodyOf(request).new_client_id, "new_client_id");
      if ((await context.known.check(request.app.appId, newClientId)) === "yes") {
        throw new ApiError("badParameter", "new_client_id is already registered.");
      }
      const { clientId, position } = await acceptAboutClient(context, request, "reset_client_id", request.plainBody);
      // A look-up before that would still find the old id in the tables and remember it.
      if (context.applies) await context.progress.waitFor(position, LIMITS.registerWaitMs);
      context.known.forget(request.app.appId, clientId);
      context.known.journaled(request.app.appId, newClientId, position);
      return success({});
    },
  });

  server.post(`${BASE}/user/update_data`, {
    schema: {
      summary: "Update data",
      description: "Adds ids to a registered client.",
      tags: ["collection of older SDKs"],
      querystring: appAndClientQuery,
      body: updateDataBody,
      response: { 200: emptyAnswer },
    },
    config: config("user/update_data"),
    handler: async (request) => {
      await acceptAboutClient(context, request, "update_data", request.plainBody);
      return success({});
    },
  });
}

async function acceptRegistration(
  context: HttpContext,
  request: FastifyRequest,
  kind: EntryKind,
  clientId: string,
): Promise<void> {
  const nowMs = context.clock();
  const head = headOf(context, request, { kind, clientId, registered: "yes", nowMs });
  const position = await context.intake.accept(head, request.plainBody);
  context.known.journaled(request.app.appId, clientId, position);
  // So that a lookup right after the answer sees the user; when apply is behind, the answer does not wait for ever.
  if (context.applies) await context.progress.waitFor(position, LIMITS.registerWaitMs);
}

/** For operations that name the client in the query. */
export async function acceptAboutClient(
  context: HttpContext,
  request: FastifyRequest,
  kind: EntryKind,
  body: Buffer,
  client?: string,
): Promise<{ clientId: string; position: number }> {
  const clientId = client ?? readClientId((request.query as JsonObject).client_id);
  const registered: EntryHead["registered"] = await requireRegistered(context, request.app, clientId);
  const nowMs = context.clock();
  const position = await context.intake.accept(headOf(context, request, { kind, clientId, registered, nowMs }), body);
  return { clientId, position };
}

function assertAdData(body: JsonObject): void {
  const adData = body.ad_data;
  if (!isObject(adData)) return;
  assertShallow(adData, "ad_data");
  if (Buffer.byteLength(JSON.stringify(adData)) > LIMITS.adDataBytes)
    throw new ApiError("badParameter", "ad_data is too large.");
}

function assertPlatform(body: JsonObject): void {
  const company = body.click_company as string;
  if (company === "" || platformNamed(company)) return;
  throw new ApiError(
    "badParameter",
    `click_company ${JSON.stringify(company.slice(0, 60))} is not a known platform: ${PLATFORM_NAMES.join(", ")}.`,
  );
}
