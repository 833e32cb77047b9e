import { Type } from "typebox";
import { clientId } from "../fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });

export const appIdQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
});

export const whyQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  client_id: Type.String({ minLength: 1, maxLength: 128 }),
});

export const eraseBody = Type.Object({
  app_id: appId,
  client_id: clientId({ description: "The id used at registration" }),
});
