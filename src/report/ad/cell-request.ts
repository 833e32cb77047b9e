import { isDay } from "../../domain/calendar.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { type Dimension, dimensionNamed } from "../metric/dimension.ts";
import { type AdReportBody, readAdReport } from "./ad-report-request.ts";
import type { Cell } from "./explain.ts";

/** The request for a cell: the report's fields, one metric, and the row's dimensions with their values. */
export type CellBody = Omit<AdReportBody, "metrics_list" | "dims_list" | "dims_metrics_list"> & {
  metric: string;
  row?: Record<string, string>;
  limit?: number;
  rate_decimal_point?: 2 | 4;
};

export function readCell(given: CellBody): Cell {
  const { metric, row = {}, limit = LIMITS.explainedRows, rate_decimal_point, ...body } = given;
  const unknown = Object.keys(row).find((name) => !dimensionNamed(name));
  if (unknown !== undefined) throw new ApiError("badParameter", `row: ${JSON.stringify(unknown)} is not a dimension.`);
  if (row.date !== undefined && !isDay(row.date))
    throw new ApiError("badParameter", "row: date must look like 2026-11-15.");
  const asked = { ...body, metrics_list: [metric], dims_list: Object.keys(row) };
  const request = readAdReport(asked, rate_decimal_point);
  return { request, values: row as Partial<Record<Dimension, string>>, limit };
}
