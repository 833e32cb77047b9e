import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  appAndClientQuery,
  deviceInfo,
  deviceInfoBody,
  resetClientIdBody,
  updateDataBody,
} from "../../contract/collect/user.ts";
import { emptyData, envelopeSchema, success } from "../../contract/envelope.ts";
import { messageOfInvalid } from "../../contract/validation.ts";
import type { JsonObject } from "../../domain/json.ts";
import { deviceOf, readDeviceData } from "../../domain/user/device.ts";
import { readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import type { Progress } from "../../intake/progress.ts";
import type { EntryHead, EntryKind } from "../../journal/entry.ts";
import { LIMITS } from "../../limits.ts";
import { acceptSent, bodyOf, headOf, requireRegistered, type SentContext } from "./sent-call.ts";

const BASE = "/event_center/api/v1";
const emptyAnswer = envelopeSchema(emptyData);

/** `applies`: this process fills the tables, so that waiting for them makes sense. */
export type ClientContext = SentContext & { progress: Progress; applies: boolean };

/** Operations on a registered client, which is named in the query. */
export function clientRoutes(server: FastifyInstance, context: ClientContext): void {
  const config = (endpoint: string) => ({ collection: true, endpoint, numbersAreIds: true });

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
      request.opened = { data: deviceOf(data) };
      const opened = Buffer.from(JSON.stringify(request.opened));
      await acceptAboutClient(context, request, "device_info", { opened });
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
      const { appId } = request.app;
      const { clientId, position } = await acceptAboutClient(context, request, "reset_client_id");
      // Before forgetting: a look-up would still find the old id in the tables and remember it.
      if (context.applies) await context.progress.waitFor({ appId, position }, LIMITS.appliedWaitMs);
      context.known.forget(appId, clientId);
      context.known.journaled(appId, newClientId, position);
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
      await acceptAboutClient(context, request, "update_data");
      return success({});
    },
  });
}

/** Accepts an operation whose query names the client. `opened` is the decrypted body, where it was encrypted. */
export async function acceptAboutClient(
  context: SentContext,
  request: FastifyRequest,
  kind: EntryKind,
  options: { client?: string; opened?: Buffer } = {},
): Promise<{ clientId: string; position: number }> {
  const clientId = options.client ?? readClientId((request.query as JsonObject).client_id);
  const registered: EntryHead["registered"] = await requireRegistered(context, request.app, clientId);
  const nowMs = context.clock();
  const head = headOf(context, request, { kind, clientId, registered, nowMs });
  const { opened } = options;
  const position = await (opened ? context.intake.accept(head, opened) : acceptSent(context, request, head));
  return { clientId, position };
}
