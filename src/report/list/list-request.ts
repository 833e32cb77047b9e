import type { JsonValue } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";

/** `between`: two ends, both included. `inner`: one of the values. */
export type QueryItem = { operator: "between" | "inner"; values: readonly number[] };

export type UserFilterBody = {
  create_date_list?: readonly string[];
  ad_platform_list?: readonly string[];
  channel_list?: readonly string[];
  version_list?: readonly number[];
  turbo_promoted_object_id_list?: readonly string[];
  advertiser_id_list?: readonly string[];
  gid_list?: readonly string[];
  aid_list?: readonly string[];
  cid_list?: readonly string[];
  wx_openid_list?: readonly string[];
  client_id_list?: readonly string[];
};

export type OrderFilterBody = {
  Amount?: QueryItem;
  BackAmount?: QueryItem;
  UploadTime?: readonly string[];
  PayEventTime?: readonly string[];
  Status?: string;
  PayCount?: readonly string[];
  PostbackCnt?: readonly string[];
  TraceID?: readonly string[];
  event$pay_method?: readonly string[];
  event$pay_reason?: readonly string[];
};

export type PostbackFilterBody = { postback_filtering?: { event_type: string; status: string } };

export type PropertyCondition = {
  field: string;
  operator: "equal" | "not_equal" | "between" | "inner" | "is_set" | "not_set";
  values?: readonly JsonValue[];
};

/** The body of a list, after validation. */
export type ListBody<EventFilter> = {
  app_id: number;
  user_filtering: UserFilterBody;
  event_filtering: EventFilter;
  order_by_list?: readonly { field: string; sort: 0 | 1 }[];
  page?: number;
  page_size?: number;
  property_condition?: readonly PropertyCondition[];
};

export const PAGE_SIZE = 20;

export type Page = { page: number; pageSize: number };

export function readPage(body: { page?: number; page_size?: number }): Page {
  const { page = 1, page_size: pageSize = PAGE_SIZE } = body;
  if (page < 1) throw new ApiError("badParameter", "page must be 1 or more.");
  if (pageSize < 1 || pageSize > LIMITS.pageSize) {
    throw new ApiError("badParameter", `page_size must be from 1 to ${LIMITS.pageSize}.`);
  }
  if (page * pageSize > LIMITS.listRows) {
    throw new ApiError("badParameter", "page: a list cannot be paged this far; narrow the filters or use the export.");
  }
  return { page, pageSize };
}

/** The rows of a page among those of the list. */
export type Window = { limit: number; offset: number };

export function windowOf({ page, pageSize }: Page): Window {
  return { limit: pageSize, offset: (page - 1) * pageSize };
}

/** The page, with the interface's field names. */
export type PageInfo = { page: number; page_size: number; total_number: number; total_page: number };

export function pageInfo({ page, pageSize }: Page, totalNumber: number): PageInfo {
  return { page, page_size: pageSize, total_number: totalNumber, total_page: Math.ceil(totalNumber / pageSize) };
}
