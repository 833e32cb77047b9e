import { type Static, Type } from "typebox";
import type { JsonObject } from "../../domain/json.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { clientId } from "../fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const platform = Type.String({ description: "Ad platform", minLength: 1, maxLength: 40 });
const declaration = Type.Unsafe<JsonObject>({
  type: "object",
  description: "url, callback_hosts, method, query, headers, form or json, sign, success, codes, repeats, account",
});

export const connectorSetBody = Type.Object({ app_id: appId, ad_platform: platform, declaration });

export const connectorRemoveBody = Type.Object({ app_id: appId, ad_platform: platform });

export const connectorCheckBody = Type.Object({
  app_id: appId,
  ad_platform: platform,
  declaration,
  client_id: Type.Optional(
    clientId({
      description: "A user whom the platform brought: the calls are about this user; absent: made-up values",
    }),
  ),
  answer: Type.Optional(
    Type.Object(
      {
        status: Type.Integer({ minimum: 100, maximum: 599, description: "HTTP status" }),
        body: Type.String({ maxLength: LIMITS.declarationBytes }),
      },
      { description: "An answer of the platform, to see how it would be read" },
    ),
  ),
});

const connector = Type.Object({
  ad_platform: Type.String(),
  declaration: Type.Unsafe<JsonObject>({ type: "object", additionalProperties: true }),
  accounts: Type.Integer({ description: "Number of the app's accounts at the platform" }),
  changed_at: Type.String(),
});
export type ShownConnector = Static<typeof connector>;

type ShownCall = { method: string; url: string; headers: Record<string, string>; body: string };

const placeholder = Type.Object({ name: Type.String(), hint: Type.String() });

const connectorList = Type.Object({
  connectors: Type.Array(connector),
  placeholders: Type.Array(placeholder, { description: "What query, headers, form, json and sign may hold" }),
});
export type ConnectorList = Static<typeof connectorList>;

const connectorCheck = Type.Object({
  ad_platform: Type.String(),
  calls: Type.Array(
    Type.Object({
      event_type: Type.String(),
      code: Type.String(),
      request: Type.Unsafe<ShownCall | null>({
        type: ["object", "null"],
        description: "The call; null when nothing would be sent",
        properties: {
          method: { type: "string" },
          url: { type: "string" },
          headers: { type: "object", additionalProperties: { type: "string" } },
          body: { type: "string", description: "Empty when there is none" },
        },
      }),
      reason: Type.String({ description: "Why nothing would be sent; else empty" }),
    }),
    { description: "The call for each event type; the account's values are made up, and nothing is sent" },
  ),
  tells_money: Type.Boolean({ description: "Whether amounts are told; if not, orders never count as told" }),
  verdict: Type.Unsafe<{ kind: "accepted" | "retry" | "permanent" | "token"; reason: string } | null>({
    type: ["object", "null"],
    description: "How the given answer is read: accepted, retry or permanent; null when none was given",
    properties: { kind: { type: "string" }, reason: { type: "string" } },
  }),
});
export type ConnectorCheck = Static<typeof connectorCheck>;

export const connectorAnswer = envelopeSchema(connector);
export const connectorListAnswer = envelopeSchema(connectorList);
export const connectorCheckAnswer = envelopeSchema(connectorCheck);
