import { type Static, Type } from "typebox";
import { REJECTIONS } from "../../errors.ts";
import { envelopeSchema } from "../envelope.ts";

export const historyQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  register: Type.Optional(
    Type.Unsafe<"yes" | "no">({
      type: "string",
      enum: ["yes", "no"],
      description: "`no`: the events of unknown clients are refused; by default the clients are registered.",
    }),
  ),
});

/** What the audit log keeps of a call. */
export const historyNote = Type.Object({ app_id: Type.Integer(), lines: Type.Integer() });

const takenHistory = Type.Object({
  lines: Type.Integer({ description: "The first lines of the body, which were taken. Send the others again" }),
  events: Type.Integer({ description: "Events on these lines" }),
  registered: Type.Integer({ description: "Clients that were registered" }),
  rejected: Type.Integer({ description: "Events that were not stored" }),
  errors: Type.Array(
    Type.Object({
      line: Type.Integer({ description: "From 1" }),
      client_id: Type.String(),
      event: Type.String(),
      reason: Type.String({ description: `Not stored: ${REJECTIONS.join(", ")}. Stored, but reported: bad_property` }),
      message: Type.String(),
    }),
    { description: "One per event that was not stored as it stands" },
  ),
});
export type TakenHistoryAnswer = Static<typeof takenHistory>;

export const takenHistoryAnswer = envelopeSchema(takenHistory);
