import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });

const key = {
  ad_unit_id: Type.String({
    description: "The ad unit, as `$ad_unit_id` of `$AdShow` names it",
    minLength: 1,
    maxLength: LIMITS.dimensionBytes,
  }),
  start_date: day("First day"),
};

export const ecpmSetBody = Type.Object({
  app_id: appId,
  ...key,
  end_date: Type.Optional(
    Type.String({ pattern: "^(\\d{4}-\\d\\d-\\d\\d)?$", description: "Last day, included; absent or empty: no end" }),
  ),
  ecpm: Type.Number({
    description: "What 1,000 shown ads earn, in major units of the app's currency, up to 3 decimals",
  }),
});

export const ecpmRemoveBody = Type.Object({ app_id: appId, ...key });

const ecpm = Type.Object({
  ad_unit_id: Type.String(),
  start_date: Type.String(),
  end_date: Type.String({ description: "Last day, included; empty: no end" }),
  ecpm: Type.Number({ description: "Major units of the app's currency for 1,000 shown ads" }),
});
export type ShownEcpm = Static<typeof ecpm>;

const ecpmList = Type.Object({ ecpms: Type.Array(ecpm, { description: "By ad unit, the newest period first" }) });
export type EcpmList = Static<typeof ecpmList>;

export const ecpmAnswer = envelopeSchema(ecpm);
export const ecpmListAnswer = envelopeSchema(ecpmList);
export const ecpmRemovedAnswer = envelopeSchema(Type.Object({}));
