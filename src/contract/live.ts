import { type Static, Type } from "typebox";
import { choice } from "./fields.ts";

const eventError = Type.Object({
  index: Type.Integer({ description: "Place in `event_list`, from 0" }),
  event: Type.String({ description: "Name of the event, if it has one" }),
  reason: Type.String({ description: "`bad_property`: stored without the property; any other: not stored" }),
  message: Type.String(),
});

/** A call of a collection endpoint, as the live stream shows it. */
export const liveCall = Type.Object({
  id: Type.Integer({ description: "Increases with every call, across restarts" }),
  at_ms: Type.Integer({ description: "When it was received, in milliseconds" }),
  endpoint: Type.String({ description: "`event/collect`, `user/register`, `event/click` …" }),
  client_id: Type.String({ description: "Empty when the call names none" }),
  debug: Type.Boolean({ description: "Sent in debug mode" }),
  ip: Type.String({ description: "Address of the caller" }),
  ua: Type.String({ description: "User agent of the caller" }),
  code: Type.Integer({ description: "Code of the answer; 0: accepted" }),
  msg: Type.String({ description: "Why the whole call was refused; empty when it was not" }),
  body: Type.Unknown({ description: "The body as sent; null when it is secret or too large to show" }),
  errors: Type.Array(eventError, { description: "Events that were not stored, or not as sent" }),
});
export type LiveCall = Static<typeof liveCall>;

export const liveQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  client_id: Type.Optional(Type.String({ maxLength: 128, description: "Only calls of this client" })),
  event: Type.Optional(
    Type.String({
      maxLength: 50,
      description: "Only calls with an event of this name, or calls of this name: `click`, `register` …",
    }),
  ),
  scope: Type.Optional(choice<"all" | "debug">(["all", "debug"], "`debug`: only calls sent in debug mode")),
});
