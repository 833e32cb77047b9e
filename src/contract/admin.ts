import { Type } from "typebox";
import { envelopeSchema } from "./envelope.ts";
import { clientId } from "./fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });

export const appIdQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
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
