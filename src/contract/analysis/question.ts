import { Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { choice } from "../fields.ts";
import { type Filter, filter } from "./condition.ts";

/** What all questions share. */
export const dateList = Type.Array(Type.String({ description: "YYYY-MM-DD" }), {
  minItems: 2,
  maxItems: 2,
  description: `First and last day in the app's time zone, both included; at most ${LIMITS.analysisDays} days`,
});

export const SOURCES = ["event", "order"] as const;

/** Which rows a question reads: events by name, all events, or orders. */
export type Source = { source: (typeof SOURCES)[number]; event?: string; filter?: Filter };

export const sourceFields = {
  source: choice(SOURCES, "Events, or orders"),
  event: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Name of the event; absent: every event except changes of profiles. Not for orders",
    }),
  ),
  filter,
};

export const AMOUNTS = ["pay_cents", "refund_cents", "net_cents"] as const;
export type Amount = (typeof AMOUNTS)[number];

/** A number of each event or order: a property, or an amount of an order. */
export type NumberOf = { property?: string; amount?: Amount };

export const numberFields = {
  property: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 50,
      description:
        "Name of a property of the event or order. Only values that are numbers count, to six decimal places",
    }),
  ),
  amount: Type.Optional(
    choice(AMOUNTS, "Instead of a property, for orders: what was paid, refunded, or paid less refunded, in cents"),
  ),
};

/** A user behind a number. */
export const usersBehind = Type.Object({
  client_ids: Type.Array(Type.String(), { description: `In order; at most ${LIMITS.analysisUsers}` }),
  count: Type.Integer({ description: "How many there are in all" }),
});
export type UsersBehind = Type.Static<typeof usersBehind>;

export const groupText = Type.String({ description: "A value of the split; empty: not set" });
