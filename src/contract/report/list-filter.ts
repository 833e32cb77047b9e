import { Type } from "typebox";
import { PROPERTY_OPERATORS } from "../../domain/event/property-test.ts";
import { POSTBACK_EVENT_TYPES, POSTBACK_STATUS } from "../../domain/postback/postback.ts";

export const oneOf = <T extends string | number>(
  type: "string" | "number",
  values: readonly T[],
  description: string,
) => Type.Unsafe<T>({ type, enum: values as T[], description });
export const filterList = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 2_048 }), { description }));

/** 0 not sent, 1 succeeded, 2 failed, 3 skipped. */
export const STATUSES = Object.values(POSTBACK_STATUS).map(String);

export const NUMBER_OPERATORS = ["between", "inner"] as const;

/** The forms of filters, with their schemas. */
const FORMS = {
  /** First and last day. */
  dates: filterList,
  /** First and last time or day. */
  times: (description: string) => Type.Optional(Type.Array(Type.String(), { description })),
  /** One of these texts. */
  texts: filterList,
  /** One of these numbers. */
  numbers: (description: string) => Type.Optional(Type.Array(Type.Number(), { description })),
  /** One of these whole numbers, which are written as texts. */
  counts: filterList,
  /** A range of cents, or one of these amounts. */
  cents: (description: string) =>
    Type.Optional(
      Type.Object(
        {
          operator: oneOf(
            "string",
            NUMBER_OPERATORS,
            "`between`: a range, both ends included; `inner`: one of the values",
          ),
          values: Type.Array(Type.Number()),
        },
        { description },
      ),
    ),
  /** A postback's status; the empty text matches any. */
  status: (description: string) => Type.Optional(oneOf("string", [...STATUSES, ""], description)),
  /** A type of postback and its status. */
  postback: (description: string) =>
    Type.Optional(
      Type.Object(
        {
          event_type: oneOf("string", POSTBACK_EVENT_TYPES, "Postback event"),
          status: oneOf("string", STATUSES, "0 not sent, 1 succeeded, 2 failed, 3 skipped"),
        },
        { description },
      ),
    ),
} as const;

export type FilterForm = keyof typeof FORMS;
export const FILTER_FORMS = Object.keys(FORMS) as FilterForm[];

/** A filter of a list, from which its schema, its documentation and its field in the console are made. */
export type Filter = { form: FilterForm; description: string };
type Filters = Readonly<Record<string, Filter>>;

const filter = <Form extends FilterForm>(form: Form, description: string) => ({ form, description });

export const USER_FILTERS = {
  create_date_list: filter("dates", "First and last date of registration"),
  ad_platform_list: filter("texts", "Ad platforms; `natural` for organic users"),
  channel_list: filter("texts", "Channels"),
  version_list: filter("numbers", "Versions"),
  turbo_promoted_object_id_list: filter("texts", "Campaigns"),
  advertiser_id_list: filter("texts", "Accounts"),
  gid_list: filter("texts", "Plans"),
  aid_list: filter("texts", "Ads"),
  cid_list: filter("texts", "Creatives"),
  wx_openid_list: filter("texts", "Open ids"),
  client_id_list: filter("texts", "Client ids"),
} satisfies Filters;

export const ORDER_FILTERS = {
  Amount: filter("cents", "Order amount in cents"),
  BackAmount: filter("cents", "Amount sent in the postback, in cents"),
  UploadTime: filter("times", "Time of the last change, or of receipt if unchanged: two times or dates, both included"),
  PayEventTime: filter("times", "Time of the payment: two times or dates, both included"),
  Status: filter("status", "Postback status"),
  PayCount: filter("counts", "Which payment of the user it is, from 1"),
  PostbackCnt: filter("counts", "Number of supplementary postbacks"),
  TraceID: filter("texts", "Order ids"),
  event$pay_method: filter("texts", "Payment methods"),
  event$pay_reason: filter("texts", "Payment reasons"),
} satisfies Filters;

export const POSTBACK_FILTERS = {
  postback_filtering: filter("postback", "Users by the status of their postbacks of one type"),
} satisfies Filters;

type Schemas<Of extends Filters> = { [Name in keyof Of]: ReturnType<(typeof FORMS)[Of[Name]["form"]]> };

function schemasOf<Of extends Filters>(filters: Of): Schemas<Of> {
  const schemas = Object.entries(filters).map(([name, { form, description }]) => [name, FORMS[form](description)]);
  return Object.fromEntries(schemas) as Schemas<Of>;
}

export const userFiltering = Type.Object(schemasOf(USER_FILTERS), {
  description: "A user must satisfy all; absent or empty lists filter nothing",
});
export const orderFiltering = Type.Object(schemasOf(ORDER_FILTERS));
export const postbackFiltering = Type.Object(schemasOf(POSTBACK_FILTERS));

export const propertyCondition = Type.Array(
  Type.Object({
    field: Type.String({ description: "`user$…` or `event$…`" }),
    operator: oneOf("string", PROPERTY_OPERATORS, "How to compare"),
    values: Type.Optional(Type.Array(Type.Any())),
  }),
  { maxItems: 100, description: "Further conditions on properties; all must hold" },
);
