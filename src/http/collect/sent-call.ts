import type { FastifyRequest } from "fastify";
import type { Clock } from "../../clock.ts";
import type { JsonObject } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import type { ServedApp } from "../../intake/app-directory.ts";
import type { Intake } from "../../intake/intake.ts";
import type { KnownClients } from "../../intake/known-clients.ts";
import type { EntryHead, EntryKind } from "../../journal/entry.ts";
import { journaledBody } from "../../journal/packed-body.ts";
import { type CallerAddress, callerOf, userAgentOf } from "../caller-address.ts";

/** Everything needed to journal a client's call. */
export type SentContext = { clock: Clock; caller: CallerAddress; intake: Intake; known: KnownClients };

export function bodyOf(request: FastifyRequest): JsonObject {
  return request.body as JsonObject;
}

export function headOf(
  context: Pick<SentContext, "caller">,
  request: FastifyRequest,
  entry: { kind: EntryKind; clientId: string; registered: EntryHead["registered"]; nowMs: number },
): EntryHead {
  return {
    kind: entry.kind,
    app: request.app.appId,
    client: entry.clientId,
    at: entry.nowMs,
    ip: callerOf(context, request),
    ua: userAgentOf(request),
    registered: entry.registered,
  };
}

/** Makes a client's call durable, with its body as sent. */
export function acceptSent(
  { intake }: Pick<SentContext, "intake">,
  request: FastifyRequest,
  head: EntryHead,
): Promise<number> {
  const { body, gzip } = journaledBody(request.plainBody, request.packedBody);
  return intake.accept(gzip === undefined ? head : { ...head, gzip }, body);
}

/** Refuses with 2000 a client known not to be registered, when the app requires registration. */
export async function requireRegistered(
  { known }: Pick<SentContext, "known">,
  app: ServedApp,
  clientId: string,
): Promise<EntryHead["registered"]> {
  if (known.isKnown(app.appId, clientId)) return "yes";
  const registered = await known.check(app.appId, clientId);
  if (registered === "yes") return "yes";
  if (!app.requireRegistration) return "not_required";
  if (registered === "unknown") return "unknown";
  throw new ApiError("notRegistered", "This client_id is not registered yet.");
}
