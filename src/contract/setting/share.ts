import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const day = (description: string) => Type.String({ pattern: "^(\\d{4}-\\d\\d-\\d\\d)?$", description });
const text = (description: string) => Type.String({ description, maxLength: LIMITS.dimensionBytes });

const fields = {
  os_platform: text("Operating system of the user; empty: any"),
  channel: text("Channel of the user; empty: any"),
  pay_method: text("`$pay_method` of the payment; empty: any"),
  is_virtual: Type.Unsafe<boolean | null>({
    type: ["boolean", "null"],
    description: "Whether the payment's `$is_virtual` is set; null: any",
  }),
  start_date: day("First day of orders; empty: no beginning"),
  end_date: day("Last day of orders, included; empty: no end"),
};
const share = Type.Number({ description: "What is left of a payment, from 0 to 1, with up to 4 decimals" });

/** A rule as it is given: a condition that is absent fits every payment. */
const givenRule = Type.Object({ ...Type.Partial(Type.Object(fields)).properties, share });
export type GivenRule = Static<typeof givenRule>;

export const shareSetBody = Type.Object({
  app_id: appId,
  rules: Type.Array(givenRule, { description: "All rules of the app; the first one that fits a payment counts" }),
});

const shareList = Type.Object({
  pay_share: Type.Number({ description: "The share where no rule fits" }),
  rules: Type.Array(Type.Object({ ...fields, share }), { description: "In their order" }),
});
export type ShareList = Static<typeof shareList>;
export type ShownShareRule = ShareList["rules"][number];

export const shareListAnswer = envelopeSchema(shareList);
