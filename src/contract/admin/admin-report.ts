import { Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { segmentFiltering } from "../analysis/saved-segment.ts";
import { adReportBody, orderListBody, rateDecimalPoint, userListBody } from "../report/report.ts";

const {
  sign: _sign,
  metrics_list: _metrics,
  dims_list: _dims,
  dims_metrics_list: _names,
  ...report
} = adReportBody.properties;

export const cellBody = Type.Object({
  ...report,
  metric: Type.String({ description: "The metric" }),
  row: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: "object",
      additionalProperties: { type: "string" },
      description: "The row's dimensions with their values; absent: the total",
    }),
  ),
  rate_decimal_point: rateDecimalPoint,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.explainedRows,
      description: `Most users, orders and costs to list, each; default ${LIMITS.explainedRows}`,
    }),
  ),
});

const { user_filtering, event_filtering: orders, property_condition } = orderListBody.properties;
const { event_filtering: users } = userListBody.properties;

export const exportBody = Type.Object({
  app_id: Type.Integer({ description: "Application id" }),
  kind: Type.Unsafe<"events" | "orders" | "users">({ type: "string", enum: ["events", "orders", "users"] }),
  format: Type.Optional(
    Type.Unsafe<"ndjson" | "csv">({ type: "string", enum: ["ndjson", "csv"], description: "Default ndjson" }),
  ),
  from: Type.Optional(Type.String({ description: "Events: first local day" })),
  to: Type.Optional(Type.String({ description: "Events: last local day" })),
  user_filtering: Type.Optional(user_filtering),
  event_filtering: Type.Optional(Type.Object({ ...orders.properties, ...users.properties })),
  property_condition,
  segment_filtering: Type.Optional(segmentFiltering),
});
