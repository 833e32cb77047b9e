import type { FastifyRequest } from "fastify";
import type pg from "pg";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { CostPuller } from "../cost/puller.ts";
import type { DeveloperApp } from "../db/developer-app.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { ApiError } from "../errors.ts";
import type { AppDirectory, ServedApp } from "../intake/app-directory.ts";
import type { LargeBodies } from "../intake/body/large-bodies.ts";
import type { BodyRoom } from "../intake/body-room.ts";
import type { IntakeBudgets } from "../intake/budgets.ts";
import type { Intake } from "../intake/intake.ts";
import type { KnownClients } from "../intake/known-clients.ts";
import type { Metrics } from "../intake/metrics.ts";
import type { Progress } from "../intake/progress.ts";
import type { Refusals } from "../intake/refusals.ts";
import type { EntryHead, EntryKind } from "../journal/entry.ts";
import { journaledBody } from "../journal/packed-body.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import type { Vault } from "../vault.ts";
import type { Access, Actor } from "./admin/actor.ts";
import type { AdminTokens } from "./admin/admin-token.ts";
import type { FailedSignIns } from "./admin/session/failed-sign-ins.ts";
import type { SeenSessions } from "./admin/session/seen-sessions.ts";
import type { CallerAddress } from "./caller-address.ts";
import type { Collected } from "./collect/collect.ts";
import type { Live } from "./live/live.ts";

/** Everything that the routes work with, made by main.ts. */
export type HttpContext = {
  config: Config;
  clock: Clock;
  log: Log;
  pool: pg.Pool;
  reportPool: () => pg.Pool;
  vault: Vault;
  /** Signs the tokens of users. */
  userTokenKey: Buffer;
  apps: AppDirectory;
  known: KnownClients;
  intake: Intake;
  progress: Progress;
  metrics: Metrics;
  /** Bodies that are being received or answered. */
  bodies: BodyRoom;
  largeBodies: LargeBodies;
  budgets: IntakeBudgets;
  refusals: Refusals;
  live: Live;
  costs: CostPuller;
  caller: CallerAddress;
  /** Whether the tables are filled by this process, so that waiting for them makes sense. */
  applies: boolean;
  applyLagMs: () => number;
  /** Why what is taken in does not reach the tables; undefined where it does. */
  applyObstacle: () => string | undefined;
  isStopping: () => boolean;
  durable: () => number;
  vitals: Vitals;
  seenSessions: SeenSessions;
  failedSignIns: FailedSignIns;
  adminTokens: AdminTokens;
};

/** What a process alone knows of itself. */
export type Vitals = {
  startedAtMs: number;
  /** Entries of the journal that are not applied yet; undefined: some are of an earlier process. */
  waitingEntries: () => number | undefined;
};

/** What the hooks have put on a request by the time a handler sees it. */
declare module "fastify" {
  interface FastifyRequest {
    app: ServedApp;
    /** The JSON text as sent, with gzip and multipart undone. */
    plainBody: Buffer;
    /** The bytes as sent, where they are gzip. */
    packedBody: Buffer | undefined;
    /** A file that was sent as itself. */
    csv?: Buffer;
    answerCode: number;
    /** Why the request was refused; the empty text where it was not. */
    answerMessage: string;
    /** Of event collect, once it is durable. */
    collected?: Collected;
    /** What the body turned out to hold, where that is not what it shows. */
    opened?: JsonValue;
    /** Whose key a report call names, until it has proved that it is theirs. */
    named: DeveloperApp | undefined;
    /** Who pulls a report. */
    developer: DeveloperApp;
    /** Who uses the admin interface. */
    actor: Actor;
    /** Of the note that a change is about to be made. */
    auditId?: number;
    requestId: string;
  }
  interface FastifyContextConfig {
    /** Long whole numbers in the body are ids and keep their digits. */
    numbersAreIds?: boolean;
    /** The handler reads the body itself. */
    keepsBytes?: boolean;
    /** A file may be sent as itself, `text/csv`, in place of JSON. */
    takesCsv?: boolean;
    /** Called by SDKs: needs an access token, answers browsers of any origin. */
    collection?: boolean;
    /** Of the admin interface: what the route does; without it, GET reads and everything else changes. */
    access?: Access;
    /** Answers carry a request_id, refusals too. */
    hasRequestId?: boolean;
    /** It changes nothing, and is noted in the audit log all the same: an export. */
    audited?: boolean;
    /** Fields of the body that the audit log does not keep. */
    auditHides?: readonly string[];
    /** The live stream shows nothing of the body. */
    hidesBody?: boolean;
    /** The name in /metrics. */
    endpoint?: string;
  }
}

export function bodyOf(request: FastifyRequest): JsonObject {
  return request.body as JsonObject;
}

export function headOf(
  context: HttpContext,
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

/** Makes what a client has sent durable, its body as it came. */
export function acceptSent(context: HttpContext, request: FastifyRequest, head: EntryHead): Promise<number> {
  const { body, gzip } = journaledBody(request.plainBody, request.packedBody);
  return context.intake.accept(gzip === undefined ? head : { ...head, gzip }, body);
}

export function callerOf(context: Pick<HttpContext, "caller">, request: FastifyRequest): string {
  return context.caller.of(request.raw.socket.remoteAddress, request.headers["x-forwarded-for"]);
}

export function userAgentOf(request: FastifyRequest): string {
  return (request.headers["user-agent"] ?? "").slice(0, LIMITS.propertyTextBytes);
}

/** Refuses with 2000 when the client is known not to be registered and the app asks for it. */
export async function requireRegistered(
  context: HttpContext,
  app: ServedApp,
  clientId: string,
): Promise<EntryHead["registered"]> {
  if (context.known.isKnown(app.appId, clientId)) return "yes";
  const registered = await context.known.check(app.appId, clientId);
  if (registered === "yes") return "yes";
  if (!app.requireRegistration) return "not_required";
  if (registered === "unknown") return "unknown";
  throw new ApiError("notRegistered", "This client_id is not registered yet.");
}
