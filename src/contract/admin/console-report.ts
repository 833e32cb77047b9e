import { type Static, Type } from "typebox";
import { CALIBERS, type Caliber } from "../../domain/cube.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { pageInfo } from "../report/list-record.ts";
import { adReportBody, orderByList, rateDecimalPoint } from "../report/report.ts";

/** The ad report for the console: the public one without its signature, in pages. */
const { sign: _sign, app_id: _app, ...publicQuestion } = adReportBody.properties;
const question = { ...publicQuestion, rate_decimal_point: rateDecimalPoint };
const appId = Type.Integer({ minimum: 1, description: "Application id" });

export const consoleReportBody = Type.Object({
  app_id: appId,
  ...question,
  order_by_list: orderByList,
  page: Type.Optional(Type.Integer({ description: "From 1; default 1" })),
  page_size: Type.Optional(Type.Integer({ description: "At most 500; absent: all rows" })),
});
export type ConsoleReportBody = Static<typeof consoleReportBody>;

export const reportBatchBody = Type.Object({
  app_id: appId,
  reports: Type.Array(Type.Object(question), {
    minItems: 1,
    maxItems: LIMITS.reportsAtOnce,
    description: "Each with the fields of one ad report except `app_id`",
  }),
});
export type ReportBatchBody = Static<typeof reportBatchBody>;

export const reportCsvBody = Type.Object({
  app_id: appId,
  ...question,
  order_by_list: orderByList,
  language: Type.Optional(
    Type.Unsafe<"en" | "zh">({
      type: "string",
      enum: ["en", "zh"],
      description: "Language of the header row; default `en`",
    }),
  ),
});

const cells = (description: string) =>
  Type.Unsafe<Record<string, string | number>>({
    type: "object",
    additionalProperties: { type: ["string", "number"] },
    description,
  });

const reportFields = {
  columns: Type.Array(Type.String(), { description: "Requested metric names" }),
  items: Type.Array(cells("Dimensions, metrics and associated values by their names")),
  total: Type.Array(cells("Metrics over all rows"), { maxItems: 1, description: "Empty when there are no rows" }),
};

const consoleReport = Type.Object({
  ...reportFields,
  page_info: pageInfo,
  campaign_names: Type.Unsafe<Record<string, string>>({
    type: "object",
    additionalProperties: { type: "string" },
    description: "Names of the rows' campaigns, by `turbo_promoted_object_id`",
  }),
  data_age_s: Type.Integer({ description: "Age of the data: anything received since then may be missing" }),
});
export type ConsoleReport = Static<typeof consoleReport>;
export const consoleReportAnswer = envelopeSchema(consoleReport);

const reportBatch = Type.Object({
  reports: Type.Array(Type.Object(reportFields), { description: "In the order of the request" }),
  data_age_s: consoleReport.properties.data_age_s,
});
export type ReportBatch = Static<typeof reportBatch>;
export const reportBatchAnswer = envelopeSchema(reportBatch);

const named = {
  name: Type.String(),
  label: Type.String({ description: "In English" }),
  cname: Type.String({ description: "In Chinese" }),
};
const measures = (description: string) => Type.Array(Type.String(), { description });

const shownFormula = Type.Object(
  {
    of: measures("Sums that are added, except `ruled_…`: payments under share rules, which are taken away"),
    by: measures("Sums to divide by; empty: no division"),
    times: Type.Integer(),
    has_pay_share: Type.Boolean({ description: "Payments count by the app's share" }),
  },
  { description: "How a metric is computed from sums" },
);
export type ShownFormula = Static<typeof shownFormula>;

export const catalogueQuery = Type.Object({
  statistics_caliber: Type.Optional(
    Type.Unsafe<Caliber>({
      type: "string",
      enum: [...CALIBERS],
      description: `Caliber of the formulas; default ${CALIBERS[0]}`,
    }),
  ),
  roi_version: Type.Optional(
    Type.Unsafe<"1" | "2">({ type: "string", enum: ["1", "2"], description: "ROI model of the formulas; default 1" }),
  ),
});

const shownCatalogue = Type.Object({
  groups: Type.Array(Type.Object(named), { description: "Groups of metrics" }),
  metrics: Type.Array(
    Type.Object({
      ...named,
      group: Type.String(),
      unit: Type.Unsafe<"count" | "money" | "rate">({ type: "string", enum: ["count", "money", "rate"] }),
      tip: Type.String({ description: "The definition" }),
      ctip: Type.String({ description: "The definition in Chinese" }),
      formula: shownFormula,
    }),
  ),
  measures: Type.Array(
    Type.Object({
      ...named,
      unit: Type.Unsafe<"count" | "cents" | "micros" | "e4">({
        type: "string",
        enum: ["count", "cents", "micros", "e4"],
        description: "Whole numbers; or hundredths, millionths or ten-thousandths of the currency",
      }),
    }),
    { description: "The sums that metrics are computed from" },
  ),
  dimensions: Type.Array(
    Type.Object({
      ...named,
      has_filter: Type.Boolean({ description: "`filtering` has a list of its values" }),
      incompatible: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() }), {
        description: "Dimensions that cannot be combined with it",
      }),
    }),
  ),
  associated: Type.Array(
    Type.Object({ ...named, dimension: Type.String({ description: "The dimension that it needs" }) }),
    { description: "Names and states, for `dims_metrics_list`" },
  ),
});
export type ShownCatalogue = Static<typeof shownCatalogue>;
export const catalogueAnswer = envelopeSchema(shownCatalogue);

export const requestTextBody = Type.Object({
  app_id: appId,
  ...publicQuestion,
  developer_id: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.tableInteger,
      description: "Developer application that signs; only for admins. Absent: placeholders instead of a signature",
    }),
  ),
  base_url: Type.Optional(Type.String({ description: "Public address; absent: the address of this call" })),
});

const requestText = Type.Object({
  is_signed: Type.Boolean({ description: "False: replace the placeholders" }),
  curl: Type.String({ description: "Shell command" }),
  node: Type.String({ description: "The same with this package's client; insert the key" }),
  body: Type.String({ description: "The body without its sign" }),
});
export type RequestText = Static<typeof requestText>;
export const requestTextAnswer = envelopeSchema(requestText);

const amounts = (description: string) =>
  Type.Unsafe<Record<string, number>>({ type: "object", additionalProperties: { type: "integer" }, description });
const count = (description: string) => Type.Integer({ description });

const explained = Type.Object({
  metric: Type.String(),
  value: Type.Number({ description: "The number as the report shows it" }),
  formula: shownFormula,
  pay_share: Type.Number({ description: "Share of a payment that counts in `roi_version` 2, unless a rule fits it" }),
  sums: amounts("The sums of the cell, to which the formula was applied"),
  users: Type.Array(
    Type.Unsafe<{ client_id: string } & Record<string, string | number>>({
      type: "object",
      required: ["client_id"],
      additionalProperties: { type: "integer" },
      properties: { client_id: { type: "string" } },
    }),
    { description: "Each user, with the user's part of the sums" },
  ),
  orders: Type.Array(
    Type.Object({
      trace_id: Type.String(),
      client_id: Type.String(),
      kind: Type.Unsafe<"order" | "refund">({ type: "string", enum: ["order", "refund"] }),
      time: Type.String({ description: "When it counts, in the app's time zone" }),
      cents: Type.Integer({ description: "What it adds; negative for a refund that lowers payments" }),
      refunded_cents: Type.Integer({ description: "Amount of the order that was paid back; 0: none" }),
      back_cents: Type.Integer({ description: "Amount of the order that platforms were told; a refund leaves it" }),
      share: Type.Number({
        description: "Share of it that counts in `roi_version` 2: of a share rule, else `pay_share`",
      }),
    }),
    { description: "Orders, and refunds of orders" },
  ),
  costs: Type.Array(cells("A cost with its day and dimensions")),
  numbers: Type.Object(
    { users: count("Users"), orders: count("Orders"), costs: count("Costs") },
    { description: "The number of each, listed or not" },
  ),
  added: Type.Object(
    { users: amounts("Over all users"), orders: amounts("`cents` over all orders"), costs: amounts("Over all costs") },
    { description: "Sums over all of them, listed or not; equal to `sums`" },
  ),
});
export type ExplainedCell = Static<typeof explained>;
export const explainedAnswer = envelopeSchema(explained);
