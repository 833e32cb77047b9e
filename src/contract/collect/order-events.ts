import { Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { accessToken, optionalText } from "../fields.ts";

export const CONSUMER_EVENT_TYPES = [
  "START",
  "CLICK_SURVEY",
  "SUBMIT_SURVEY",
  "CLICK_RECOMMEND_COMMODITY",
  "ADD_TO_CART",
  "PRIVILEGE",
  "SETTLEMENT",
  "PAY",
  "REFUND",
] as const;

export const consumerEventQuery = Type.Object({
  access_token: accessToken,
  token: Type.Optional(Type.String({ description: "User token of the registration; this or client_id" })),
  client_id: Type.Optional(
    Type.String({ description: "The id used at registration; this or token", maxLength: LIMITS.clientIdLength }),
  ),
});

const cents = (description: string) =>
  Type.Optional(Type.Unsafe<number | null>({ type: ["integer", "null"], minimum: -1e15, maximum: 1e15, description }));

export const consumerEventBody = Type.Object({
  event_type: Type.Unsafe<string>({ type: "string", enum: [...CONSUMER_EVENT_TYPES], description: "What happened" }),
  ts: Type.Unsafe<number | string>({
    anyOf: [
      { type: "integer", minimum: 0, maximum: 4_102_444_799_999 },
      { type: "string", pattern: "^\\d{1,13}$" },
    ],
    description: "Event time, millisecond timestamp; the oldest client writes it as text",
  }),
  amount: cents("For PAY: original price in cents"),
  real_amount: cents("For PAY: amount actually paid in cents; for REFUND: amount paid back, absent: all that is left"),
  trace_id: Type.Optional(
    Type.Unsafe<string | number | null>({
      type: ["string", "number", "null"],
      maxLength: LIMITS.traceIdLength,
      description: "For REFUND: id of the order that is paid back",
    }),
  ),
});

export const handleEventBody = Type.Object({
  event_type: Type.Unsafe<string>({
    type: "string",
    pattern: "^[A-Za-z][A-Za-z0-9_]{0,49}$",
    description: "activate, register, pay, twice, key_active …",
  }),
  properties: Type.Optional(Type.Unknown({ description: "For pay: amount and real_amount in cents" })),
  use_client_time: Type.Optional(Type.Unknown({ description: "true: timestamp is the time of the event" })),
  timestamp: Type.Optional(
    Type.Unsafe<number | null>({
      type: ["integer", "null"],
      minimum: 0,
      maximum: 4_102_444_799_999,
      description: "ms",
    }),
  ),
  trace_id: Type.Optional(
    Type.Unsafe<string | number | null>({
      type: ["string", "number", "null"],
      maxLength: LIMITS.traceIdLength,
      description: "Order id, at most 128 characters; a payment with the same id is dropped as a repeat",
    }),
  ),
});

export const postbackInfoQuery = Type.Object({
  access_token: accessToken,
  client_id: optionalText("The id used at registration"),
  trace_id: optionalText("Order id"),
});
