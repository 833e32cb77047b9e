import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  appAndClientQuery,
  appQuery,
  attributedBody,
  initializeBody,
  registerBody,
  tokenAnswer,
} from "../../contract/collect/user.ts";
import { success } from "../../contract/envelope.ts";
import { makeUserToken } from "../../domain/access/user-token.ts";
import { assertShallow, isObject, type JsonObject } from "../../domain/json.ts";
import { readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import type { EntryKind } from "../../journal/entry.ts";
import { LIMITS } from "../../limits.ts";
import { PLATFORM_NAMES, platformNamed } from "../../platform/registry.ts";
import { acceptSent, bodyOf, headOf, type SentContext } from "./sent-call.ts";
import { findUserRecords, type RecordContext } from "./user-record.ts";

/** How long the answer to a registration waits for apply. A look-up of that user may wait longer. */
const REGISTER_WAIT_MS = 300;

const BASE = "/event_center/api/v1";

/** `userTokenKey` signs the tokens of users. */
export type RegisterContext = SentContext & RecordContext & { userTokenKey: Buffer };

/** The three ways to register: each goes into the journal, and the user is in the tables a moment later. */
export function registerRoutes(server: FastifyInstance, context: RegisterContext): void {
  const tokenKey = context.userTokenKey;
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
      // The registration is durable already; while the database is away the answer only lacks the attribution.
      const records = await findUserRecords(context, request.app, [clientId]).catch(() => []);
      return success({ token, ...records[0] });
    },
  });
}

async function acceptRegistration(
  context: RegisterContext,
  request: FastifyRequest,
  kind: EntryKind,
  clientId: string,
): Promise<void> {
  const nowMs = context.clock();
  const head = headOf(context, request, { kind, clientId, registered: "yes", nowMs });
  const position = await acceptSent(context, request, head);
  const { appId } = request.app;
  context.known.journaled(appId, clientId, position);
  // A report right after the answer should see the user, as long as apply keeps up. Look-ups wait by themselves.
  if (context.applies) await context.progress.waitFor({ appId, position }, REGISTER_WAIT_MS);
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
