import type { App } from "../db/app.ts";
import type { ListedOrder } from "../db/orders.ts";
import type { UserAccount } from "../db/user-account.ts";
import { calendarOf } from "../domain/calendar.ts";
import type { JsonValue } from "../domain/json.ts";
import { sharedFields } from "./user-record.ts";

/** A record of the order list, field by field as the interface names them. */
export type OrderListRecord = Record<string, JsonValue>;

const STATUS_TEXTS = ["not postbacked", "succeeded", "failed", "skipped"];
const NONE = "-";

/** Shown as `event$…`, each from the property of that name with a `$` before it. */
const EVENT_FIELDS = [
  ...["pay_method", "pay_reason", "brand", "os", "network_type", "ip", "browser", "ad_type", "ad_unit_id", "adn_type"],
  ...["app_crashed_reason", "ecpm", "event_duration", "guide_step", "order_id", "pay_amount", "pay_type", "scene_name"],
  ...["scene_path", "share_depth", "share_method", "ta_account_id", "ta_distinct_id", "third_platform_type"],
  ...["url_path", "url_query"],
];

export function orderListRecord(order: ListedOrder, user: UserAccount, app: Pick<App, "timeZone">): OrderListRecord {
  const calendar = calendarOf(app.timeZone);
  return {
    ...sharedFields(user, app),
    PayEventTime: calendar.textOf(order.atMs),
    ModifyTime: order.modifiedAtMs === null ? NONE : calendar.textOf(order.modifiedAtMs),
    Amount: order.cents,
    PayCount: order.payCount,
    BackAmount: order.backCents,
    PassStatus: order.passStatus,
    IsVirtual: order.isVirtual,
    TraceID: order.traceId,
    PostbackCnt: order.postbackCount,
    Status: STATUS_TEXTS[order.postbackStatus] ?? "",
    event$is_first_pay: order.payCount === 1,
    ...Object.fromEntries(EVENT_FIELDS.map((name) => [`event$${name}`, order.properties[`$${name}`] ?? ""])),
  };
}
