import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });

const key = {
  ad_platform: Type.String({ description: "Ad platform", minLength: 1, maxLength: 40 }),
  advertiser_id: Type.String({
    description: "The account, as its costs name it; empty: costs that name none",
    maxLength: LIMITS.dimensionBytes,
  }),
  start_date: day("First day"),
};

export const rebateSetBody = Type.Object({
  app_id: appId,
  ...key,
  end_date: Type.Optional(
    Type.String({ pattern: "^(\\d{4}-\\d\\d-\\d\\d)?$", description: "Last day, included; absent or empty: no end" }),
  ),
  cash_percent: Type.Optional(
    Type.Number({ description: "Share of the cost that is paid back in money, up to 2 decimals; default 0" }),
  ),
  credit_percent: Type.Optional(
    Type.Number({
      description: "Credit on top of what is paid in, as a share of it, up to 2 decimals; default 0",
    }),
  ),
});

export const rebateRemoveBody = Type.Object({ app_id: appId, ...key });

const rebate = Type.Object({
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  start_date: Type.String(),
  end_date: Type.String({ description: "Last day, included; empty: no end" }),
  cash_percent: Type.Number(),
  credit_percent: Type.Number(),
});
export type ShownRebate = Static<typeof rebate>;

const rebateList = Type.Object({
  rebates: Type.Array(rebate, { description: "By account, the newest period first" }),
});
export type RebateList = Static<typeof rebateList>;

export const rebateAnswer = envelopeSchema(rebate);
export const rebateListAnswer = envelopeSchema(rebateList);
export const rebateRemovedAnswer = envelopeSchema(Type.Object({}));
