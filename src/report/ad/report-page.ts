import { ApiError } from "../../errors.ts";
import { type PageInfo, pageInfo, readPage } from "../list/list-request.ts";
import type { AdReport } from "./ad-report.ts";
import type { AdReportRequest } from "./ad-report-request.ts";

type OrderBy = { field: string; sort: 0 | 1 };

/** Which of a report's rows to show, and in which order. Without a page, all of them. */
export type ReportView = { order: readonly OrderBy[]; page: { page: number; pageSize: number } | undefined };

/** Refuses a wrong view before the report is run. */
export function readReportView(
  body: { order_by_list?: readonly OrderBy[]; page?: number; page_size?: number },
  { dimensions, metrics, associated }: AdReportRequest,
): ReportView {
  const fields = new Set<string>([...dimensions, ...associated, ...metrics.map(({ name }) => name)]);
  const order = body.order_by_list ?? [];
  const unknown = order.find(({ field }) => !fields.has(field));
  if (unknown) {
    const name = JSON.stringify(unknown.field.slice(0, 60));
    throw new ApiError("badParameter", `order_by_list: ${name} is not a column of this report.`);
  }
  const hasPages = body.page !== undefined || body.page_size !== undefined;
  return { order, page: hasPages ? readPage(body) : undefined };
}

/** Sorts rows. Rows that are equal in all fields stay in the order of their dimensions, so that pages never overlap. */
export function orderedItems(items: AdReport["items"], order: ReportView["order"]): AdReport["items"] {
  if (order.length === 0) return items;
  return [...items].sort((left, right) => {
    for (const { field, sort } of order) {
      const [one, other] = [left[field]!, right[field]!];
      if (one !== other) return one < other === (sort === 0) ? -1 : 1;
    }
    return 0;
  });
}

export function pageOfItems(
  items: AdReport["items"],
  { order, page }: ReportView,
): { items: AdReport["items"]; page_info: PageInfo } {
  const ordered = orderedItems(items, order);
  if (!page)
    return { items: ordered, page_info: pageInfo({ page: 1, pageSize: Math.max(1, items.length) }, items.length) };
  const from = (page.page - 1) * page.pageSize;
  return { items: ordered.slice(from, from + page.pageSize), page_info: pageInfo(page, items.length) };
}
