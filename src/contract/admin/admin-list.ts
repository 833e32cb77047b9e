import { type Static, Type } from "typebox";
import { PROPERTY_OPERATORS } from "../../domain/event/property-test.ts";
import { envelopeSchema } from "../envelope.ts";
import { FILTER_FORMS, oneOf } from "../report/list-filter.ts";
import { CELL_NAMES } from "../report/list-record.ts";
import { orderListBody, userListBody } from "../report/report.ts";

/** The lists of the public interface, for whoever is signed in: the same bodies, which nobody has to sign. */
const { sign: _orderSign, ...ordersAsked } = orderListBody.properties;
const { sign: _userSign, ...usersAsked } = userListBody.properties;

export const ordersBody = Type.Object(ordersAsked);
export type OrdersBody = Static<typeof ordersBody>;

export const usersBody = Type.Object(usersAsked);

export const LISTS = ["orders", "users"] as const;
export type ListName = (typeof LISTS)[number];

export const listFieldsQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  list: oneOf("string", LISTS, "Which list"),
});

const filters = (description: string) =>
  Type.Array(
    Type.Object({
      name: Type.String(),
      form: oneOf("string", FILTER_FORMS, "How it is filled in"),
      description: Type.String(),
      choices: Type.Array(Type.String(), { description: "What it can be; empty: anything" }),
    }),
    { description },
  );

export const listFields = Type.Object({
  user_filters: filters("Fields of `user_filtering`"),
  event_filters: filters("Fields of `event_filtering`"),
  properties: Type.Array(
    Type.Object({
      field: Type.String({ description: "As `property_condition` names it" }),
      type: Type.String({ description: "As far as it is known; else `any`" }),
    }),
  ),
  operators: Type.Array(oneOf("string", PROPERTY_OPERATORS, "Of `property_condition`")),
  columns: Type.Array(
    Type.Object({
      name: Type.String({ description: "The field of the record; with a dot, a field of an object in it" }),
      cell: oneOf("string", CELL_NAMES, "What it holds"),
      sortable: Type.Boolean({ description: "Whether `order_by_list` takes it" }),
    }),
  ),
  page_size_max: Type.Integer(),
  rows_max: Type.Integer({ description: "So far back a list can be paged" }),
});
export type ListFields = Static<typeof listFields>;

export const listFieldsAnswer = envelopeSchema(listFields);
