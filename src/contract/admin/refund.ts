import { type Static, Type } from "typebox";
import { envelopeSchema } from "../envelope.ts";
import { filePreview } from "./cost.ts";

const unknown = {
  unknown_orders: Type.Integer({ description: "Refunds whose orders are not known; they wait for their orders" }),
  first_unknown: Type.Array(Type.String(), { description: "The first of these orders" }),
};

const refundPreview = Type.Object({ ...filePreview.properties, ...unknown });
export type RefundPreview = Static<typeof refundPreview>;

const takenRefunds = Type.Object({
  rows: Type.Integer({ description: "Number of rows of the file" }),
  new: Type.Integer({ description: "Refunds that were not stored yet" }),
  same: Type.Integer({ description: "Refunds that were stored already and stay as they are" }),
  ...unknown,
  state: Type.Unsafe<"applied" | "accepted">({
    type: "string",
    enum: ["applied", "accepted"],
    description: "`accepted`: another process fills the tables, or they are far behind",
  }),
});
export type TakenRefunds = Static<typeof takenRefunds>;

export const refundPreviewAnswer = envelopeSchema(refundPreview);
export const takenRefundsAnswer = envelopeSchema(takenRefunds);
