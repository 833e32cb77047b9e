import { type Static, Type } from "typebox";
import { envelopeSchema } from "./envelope.ts";

export const appsAnswer = Type.Object({
  apps: Type.Array(
    Type.Object({
      app_id: Type.Integer({ description: "Application id" }),
      name: Type.String(),
      enabled: Type.Boolean({ description: "Whether its data is taken in" }),
      time_zone: Type.String({ description: "Its local days are in this time zone" }),
      currency: Type.String({ description: "Of its reports" }),
      access_token: Type.String({ description: "What its clients send; public by nature" }),
      created_at_ms: Type.Integer(),
    }),
  ),
});
export type AppsAnswer = Static<typeof appsAnswer>;
export const appsEnvelope = envelopeSchema(appsAnswer);
