import { type Static, Type } from "typebox";
import { envelopeSchema } from "../envelope.ts";

export const fraudQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  from: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description: "First local day" }),
  to: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description: "Last local day" }),
});

const users = Type.Integer({ description: "Number of users" });

export const fraudReport = Type.Object({
  flags: Type.Array(Type.Object({ flag: Type.String(), ad_platform: Type.String(), users }), {
    description: "Flags on touches that won",
  }),
  even_gaps: Type.Array(
    Type.Object({ ad_platform: Type.String(), aid: Type.String(), users, mean_s: Type.Integer() }),
    { description: "Ads whose users registered too evenly after their touch" },
  ),
  many_clients: Type.Array(Type.Object({ clients: Type.Integer(), client_ids: Type.Array(Type.String()) }), {
    description: "Devices shared by too many clients, with some of the clients",
  }),
});
export type FraudReport = Static<typeof fraudReport>;
export const fraudAnswer = envelopeSchema(fraudReport);
