import { Type } from "typebox";
import { envelopeSchema } from "./envelope.ts";
import { clientId } from "./fields.ts";

const text = (description: string) => Type.String({ description, maxLength: 200 });
const optional = (description: string) => Type.Optional(text(description));
const appId = Type.Integer({ description: "Application id", minimum: 1 });
const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });

export const appIdQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
});

const campaignFields = {
  name: optional("What people call it"),
  ad_platform: optional("Ad platform"),
  channel: optional("Channel of its links and costs"),
  os_platform: Type.Optional(Type.Unsafe<string>({ type: "string", enum: ["ios", "android", ""] })),
  operator: optional("Optimiser"),
  dept: optional("Department"),
};

export const campaignCreateBody = Type.Object({
  app_id: appId,
  turbo_promoted_object_id: Type.Optional(
    Type.String({ pattern: "^[A-Za-z0-9_-]{16}$", description: "16 characters; without it one is made" }),
  ),
  ...campaignFields,
});

export const campaignChangeBody = Type.Object({
  app_id: appId,
  turbo_promoted_object_id: Type.String({ minLength: 1 }),
  ...campaignFields,
});

export const linkQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  turbo_promoted_object_id: Type.String({ description: "Campaign" }),
  ad_platform: Type.Optional(Type.String({ description: "Instead of the campaign's own; `all` for every one" })),
  base_url: Type.Optional(
    Type.String({ pattern: "^https?://[^?#]+$", description: "Public address; without it, the one that was called" }),
  ),
});

export const whyQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  client_id: Type.String({ minLength: 1, maxLength: 128 }),
});

export const fraudQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  from: day("First local day"),
  to: day("Last local day"),
});

export const eraseBody = Type.Object({
  app_id: appId,
  client_id: clientId({ description: "The id used at registration" }),
});

export const adminAnswer = envelopeSchema(Type.Object({}, { description: "See docs/API.md" }));
