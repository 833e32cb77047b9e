import { Type } from "typebox";
import { REJECTIONS } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { emptyData, envelopeSchema } from "../envelope.ts";
import { accessToken, clientId, optionalText } from "../fields.ts";

/** Documentation only: events are judged one by one (domain/event/admission.ts), so this never refuses a request. */
const eventObject = {
  type: "object",
  description:
    "type: track or profile · event: name, or one of the nine profile operations · time: milliseconds · " +
    "time_free: true skips the check of time, for history · properties: object",
};

const eventList = Type.Unsafe<unknown[]>({
  type: "array",
  minItems: 1,
  maxItems: LIMITS.eventsPerRequest,
  description: "The events",
  items: { description: eventObject.description },
});

export const collectQuery = Type.Object({ access_token: accessToken });

export const collectBody = Type.Object({
  client_id: clientId(),
  client_ip: optionalText("When set, replaces the `$ip` field"),
  client_ua: optionalText("When set, replaces the `$ua` field"),
  event_list: eventList,
});

/** The older form: `type` stands beside the list. */
export const collectV2Body = Type.Object({
  client_id: clientId(),
  type: Type.Optional(Type.Unknown({ description: "track or profile, for all events of the list" })),
  event_list: eventList,
});

export const collectAnswer = envelopeSchema(
  emptyData,
  Type.Object({
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          index: Type.Integer({ description: "Place in event_list, from 0" }),
          event: Type.String(),
          reason: Type.String({
            description: `Not stored: ${REJECTIONS.join(", ")}. Stored, but reported: bad_property`,
          }),
          message: Type.String(),
        }),
        { description: "Present when an event of the list was not stored as sent" },
      ),
    ),
  }),
);
