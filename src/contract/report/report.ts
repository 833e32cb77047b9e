import { Type } from "typebox";
import { envelopeSchema } from "../envelope.ts";
import {
  filterList,
  oneOf,
  orderFiltering,
  postbackFiltering,
  propertyCondition,
  userFiltering,
} from "./list-filter.ts";

const integer = (description: string) => Type.Integer({ description });
const texts = (description: string) => Type.Array(Type.String({ maxLength: 2_048 }), { description });

const signed = {
  app_id: integer("Application id"),
  sign: Type.String({ description: "Signature of the body, see docs/API.md" }),
};

/** Not part of the public interface, where all numbers have `decimal_point` decimals. */
export const rateDecimalPoint = Type.Optional(oneOf("number", [2, 4], "Decimals of rates; default as `decimal_point`"));

export const adReportBody = Type.Object({
  ...signed,
  date_list: texts("First and last date, `YYYY-MM-DD`"),
  metrics_list: texts("Metric names; docs/METRICS.md defines them"),
  dims_list: texts("Dimensions to group by"),
  statistics_caliber: oneOf(
    "string",
    ["user_activated_time", "behavior_occurred_time"],
    "Everything on the day of the touch, or on the day it happened",
  ),
  decimal_point: oneOf("number", [2, 4], "Decimals of the numbers"),
  roi_version: Type.Optional(oneOf("number", [1, 2], "2: the precise ROI model; default 1")),
  filtering: Type.Optional(
    Type.Object(
      {
        ad_platform_list: filterList("Ad platforms; `natural` for organic users"),
        channel_list: filterList("Channels"),
        version_list: Type.Optional(
          Type.Array(Type.Number(), { description: "Versions; costs have no version and are not filtered" }),
        ),
        turbo_promoted_object_id_list: filterList("Campaigns"),
        advertiser_id_list: filterList("Accounts"),
        gid_list: filterList("Plans"),
        aid_list: filterList("Ads"),
        creative_list: filterList("Creatives"),
        os_platform_list: filterList("Device types: `ios`, `android`, `harmony`, `unknown`"),
        csite_list: filterList("Placements"),
      },
      {
        description:
          "`version_list` of numbers, and lists of texts: `ad_platform_list`, `channel_list`, `turbo_promoted_object_id_list`, `advertiser_id_list`, `gid_list`, `aid_list`, `creative_list`, `os_platform_list`, `csite_list`. All must hold",
      },
    ),
  ),
  dims_metrics_list: filterList("Names and states of accounts, plans, ads and creatives; each needs its dimension"),
});

export const orderByList = Type.Optional(
  Type.Array(
    Type.Object({
      field: Type.String({ description: "A sortable field" }),
      sort: oneOf("number", [0, 1], "0 ascending, 1 descending"),
    }),
    { maxItems: 20, description: "Sort keys, the most significant first" },
  ),
);

const list = {
  ...signed,
  user_filtering: userFiltering,
  order_by_list: orderByList,
  page: Type.Optional(integer("From 1; default 1")),
  page_size: Type.Optional(integer("At most 500; default 20")),
  property_condition: Type.Optional(propertyCondition),
};

export const orderListBody = Type.Object({ ...list, event_filtering: orderFiltering });
export const userListBody = Type.Object({ ...list, event_filtering: postbackFiltering });
export const metricsListBody = Type.Object({ sign: signed.sign });

const records = Type.Array(Type.Unsafe<object>({ type: "object", additionalProperties: true }));
export const adReportAnswer = envelopeSchema(
  Type.Object({
    columns: Type.Array(Type.String(), { description: "Requested metric names" }),
    items: records,
    total: records,
    tips: Type.Unsafe<object>({ type: "object", description: "Definition of each metric, by its label" }),
    static: Type.Array(Type.String(), { description: "Labels of the dimensions" }),
  }),
  Type.Object({ error: Type.String(), request_id: Type.String() }),
);

export const metricsListAnswer = envelopeSchema(Type.Object({ list: records }));
