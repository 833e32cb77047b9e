import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type JsonObject, type JsonValue, parseJson, parseJsonWithIds } from "../domain/json.ts";
import { assertWithin } from "../domain/json-bounds.ts";
import { ApiError } from "../errors.ts";
import { type BodyHeaders, isPacked, isPlain, unpackBody } from "../intake/body/sent-body.ts";
import { type BodyOwner, type BodyRoom, bodyOwner, NO_APP } from "../intake/body-room.ts";
import { LIMITS } from "../limits.ts";
import { type CallerAddress, callerOf } from "./caller-address.ts";
import { type Receiver, receiveBody } from "./receive.ts";

/** `bodies` counts the bodies that are being received or answered. */
export type BodiesContext = { bodies: BodyRoom; caller: CallerAddress };

declare module "fastify" {
  interface FastifyRequest {
    /** The JSON text as sent, with gzip and multipart undone. */
    plainBody: Buffer;
    /** The bytes as sent, where they are gzip. */
    packedBody: Buffer | undefined;
    /** A CSV file sent as the body. */
    csv?: Buffer;
  }
  interface FastifyContextConfig {
    /** Long whole numbers in the body are ids and keep their digits. */
    numbersAreIds?: boolean;
    /** The handler reads the body itself. */
    keepsBytes?: boolean;
    /** The body may be a `text/csv` file instead of JSON. */
    takesCsv?: boolean;
  }
}

const RAW_CONTENT_TYPE = Symbol("the Content-Type as sent");
type RawRequest = { headers: Record<string, string | string[] | undefined>; [RAW_CONTENT_TYPE]?: string };

/** Hides the Content-Type from Fastify, which refuses unusual ones before any parser runs; SDKs send wrong ones. */
export function hideContentType(request: IncomingMessage): void {
  const raw = request as unknown as RawRequest;
  raw[RAW_CONTENT_TYPE] = String(raw.headers["content-type"] ?? "");
  raw.headers["content-type"] = undefined;
}

/** The largest body of the routes below an address, unless a route declares its own limit. */
const BODY_LIMITS: readonly (readonly [address: string, bytesMax: number])[] = [
  ["/event_center/", LIMITS.userBodyBytes],
  ["/openapi/", LIMITS.reportBodyBytes],
  ["/admin/api/v1/report/", LIMITS.reportBodyBytes],
  ["/admin/api/v1/session", LIMITS.signInBodyBytes],
  ["/", LIMITS.settingsBodyBytes],
];

/**
 * Reads bodies ourselves: whatever their Content-Type, up to the route's limit, parsed, and kept as bytes for the
 * journal. Only collection accepts packed bodies; nothing is unpacked for other routes.
 */
export function readBodies(server: FastifyInstance, context: BodiesContext): void {
  server.addHook("onRoute", (route) => {
    route.bodyLimit ??= BODY_LIMITS.find(([address]) => route.url.startsWith(address))![1];
  });
  const holder = holdBodies(server, context);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (request: FastifyRequest, _payload, done) => {
    const { bodyLimit: bytesMax, config } = request.routeOptions;
    const headers = bodyHeadersOf(request);
    const read = (bytes: Buffer) => {
      try {
        done(null, config.keepsBytes ? bytes : parsed(request, headers, bytes));
      } catch (error) {
        done(error as Error);
      }
    };
    const keepFile = (csv: Buffer) => {
      request.csv = csv;
      done(null, fileBodyOf(request));
    };
    if (config.takesCsv && headers.contentType.startsWith("text/csv") && isPlain(headers))
      receiveBody(request.raw, { ...holder(request), bytesMax: LIMITS.fileBytes, done: keepFile, refuse: done });
    else receiveBody(request.raw, { ...holder(request), bytesMax, done: read, refuse: done });
  });
}

/** A body counts as held from its first byte until the response is closed, for whatever reason. */
function holdBodies(server: FastifyInstance, context: BodiesContext) {
  const { bodies } = context;
  const held = new WeakMap<FastifyRequest, { owner: BodyOwner; bytes: number }>();
  server.addHook("preParsing", (request, reply, payload, done) => {
    reply.raw.once("close", () => {
      const { owner, bytes } = held.get(request) ?? NOTHING_HELD;
      if (bytes > 0) bodies.give(owner, bytes);
      held.delete(request);
    });
    done(null, payload);
  });
  return (request: FastifyRequest): Pick<Receiver, "hold" | "gone"> => {
    const holding = { owner: bodyOwner(callerOf(context, request), request.app?.appId ?? NO_APP), bytes: 0 };
    held.set(request, holding);
    const hold = (bytes: number) => {
      const refusal = bodies.take(holding.owner, bytes);
      if (!refusal) holding.bytes += bytes;
      return refusal;
    };
    return { hold, gone: () => {} };
  };
}

const NOTHING_HELD = { owner: { address: "", appId: NO_APP }, bytes: 0 };

/** The JSON body that would have carried the file. */
function fileBodyOf(request: FastifyRequest): JsonObject {
  const { app_id } = request.query as { app_id?: string };
  return { csv: "", ...(app_id !== undefined && { app_id: Number(app_id) }) };
}

function parsed(request: FastifyRequest, headers: BodyHeaders, bytes: Buffer): JsonValue {
  const { bodyLimit, config } = request.routeOptions;
  if (!isPlain(headers) && !config.collection) {
    throw new ApiError("badJson", "The body must be plain JSON, not gzip or a form.");
  }
  if (isPacked(headers)) request.packedBody = bytes;
  const plain = unpackBody(bytes, headers, bodyLimit);
  request.plainBody = plain;
  if (plain.length > LIMITS.bodyBytesAtOnce) {
    assertWithin(plain, { values: LIMITS.bodyValuesAtOnce, depth: LIMITS.bodyDepthAtOnce });
  }
  return config.numbersAreIds ? parseJsonWithIds(plain) : parseJson(plain);
}

export function bodyHeadersOf(request: FastifyRequest): BodyHeaders {
  return {
    contentType: (request.raw as unknown as RawRequest)[RAW_CONTENT_TYPE] ?? "",
    contentEncoding: String(request.headers["content-encoding"] ?? ""),
    gravityCompress: String(request.headers["gravity-content-compress"] ?? ""),
  };
}
