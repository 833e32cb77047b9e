import { type Static, Type } from "typebox";
import { PROPERTY_OPERATORS } from "../../domain/event/property-test.ts";
import { segmentFiltering } from "../analysis/saved-segment.ts";
import { envelopeSchema } from "../envelope.ts";
import { FILTER_FORMS, oneOf } from "../report/list-filter.ts";
import { CELL_NAMES } from "../report/list-record.ts";
import { orderListBody, userListBody } from "../report/report.ts";

/** The lists of the public interface for the console: the same bodies without signatures, and with segments. */
const { sign: _orderSign, ...ordersAsked } = orderListBody.properties;
const { sign: _userSign, ...usersAsked } = userListBody.properties;

const bySegment = { segment_filtering: Type.Optional(segmentFiltering) };

export const ordersBody = Type.Object({ ...ordersAsked, ...bySegment });
export type OrdersBody = Static<typeof ordersBody>;

export const usersBody = Type.Object({ ...usersAsked, ...bySegment });

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
      form: oneOf("string", FILTER_FORMS, "How the filter is filled in"),
      description: Type.String(),
      choices: Type.Array(Type.String(), { description: "Allowed values; empty: any" }),
    }),
    { description },
  );

export const listFields = Type.Object({
  user_filters: filters("Fields of `user_filtering`"),
  event_filters: filters("Fields of `event_filtering`"),
  properties: Type.Array(
    Type.Object({
      field: Type.String({ description: "Name in `property_condition`" }),
      type: Type.String({ description: "Type of the values; `any` when unknown" }),
    }),
  ),
  operators: Type.Array(oneOf("string", PROPERTY_OPERATORS, "Operator of `property_condition`")),
  columns: Type.Array(
    Type.Object({
      name: Type.String({ description: "Field of the record; with a dot, a field of a nested object" }),
      cell: oneOf("string", CELL_NAMES, "Kind of content"),
      sortable: Type.Boolean({ description: "Whether `order_by_list` accepts it" }),
    }),
  ),
  page_size_max: Type.Integer(),
  rows_max: Type.Integer({ description: "The last row that paging can reach" }),
});
export type ListFields = Static<typeof listFields>;

export const listFieldsAnswer = envelopeSchema(listFields);
