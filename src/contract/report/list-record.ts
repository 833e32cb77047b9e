import { type Static, Type } from "typebox";
import type { JsonValue } from "../../domain/json.ts";
import { envelopeSchema } from "../envelope.ts";

/** The kinds of content of a record's fields, which decide how the console shows them. */
const CELLS = {
  text: Type.String(),
  number: Type.Number(),
  /** Whole minor units. */
  cents: Type.Integer(),
  /** Major units. */
  money: Type.Number(),
  /** `YYYY-MM-DD HH:mm:ss` in the app's zone; the empty text or `-` when there is none. */
  time: Type.String(),
  /** `YYYYMMDD`, or the empty text. */
  day: Type.String(),
  flag: Type.Boolean(),
  /** 0 or 1. */
  bit: Type.Integer(),
  /** Any value that the app sent. */
  property: Type.Unsafe<JsonValue>({}),
} as const;

export type Cell = keyof typeof CELLS;
export const CELL_NAMES = Object.keys(CELLS) as Cell[];
export type Columns = Readonly<Record<string, Cell>>;

type Schemas<Of extends Columns> = { [Name in keyof Of]: (typeof CELLS)[Of[Name]] };

function schemasOf<Of extends Columns>(columns: Of): Schemas<Of> {
  return Object.fromEntries(Object.entries(columns).map(([name, cell]) => [name, CELLS[cell]])) as Schemas<Of>;
}

const IDENTITY_COLUMNS = {
  CreateTime: "time",
  ClientID: "text",
  AdPlatform: "text",
  Channel: "text",
  Version: "number",
  TurboPromotedObjectID: "text",
  Name: "text",
  WXOpenID: "text",
  AdvertiserID: "text",
  AdAid: "text",
  AdGid: "text",
  AdCid: "text",
  CSite: "text",
  LatestLoginDay: "day",
} as const satisfies Columns;

const FIGURE_COLUMNS = {
  user$ad_24h_avg_ecpm: "money",
  user$ad_24h_count: "number",
  user$ad_24h_ltv: "money",
  user$ad_avg_ecpm: "money",
  user$ad_count: "number",
  user$ad_ltv: "money",
  user$ad_max_ecpm: "money",
  user$first_pay_method: "text",
  user$first_pay_reason: "text",
  user$first_pay_time: "time",
  user$interstitial_ad_24_ltv: "money",
  user$interstitial_ad_count: "number",
  user$interstitial_ad_ltv: "money",
  user$interstitial_ad_max_ecpm: "money",
  user$pay_amount_sum: "cents",
  user$pay_count: "number",
  user$pay_max_amount: "cents",
  user$reward_ad_24h_ltv: "money",
  user$reward_ad_count: "number",
  user$reward_ad_ltv: "money",
  user$reward_ad_max_ecpm: "money",
} as const satisfies Columns;

const PROPERTY_COLUMNS = {
  user$brand: "property",
  user$channel: "property",
  user$city: "text",
  user$country: "text",
  user$first_scene: "property",
  user$gender: "property",
  user$manufacturer: "property",
  user$model: "property",
  user$os: "property",
  user$province: "text",
  user$ta_account_id: "property",
  user$ta_distinct_id: "property",
} as const satisfies Columns;

/** The columns that records of users and of orders have in common. */
const SHARED_COLUMNS = { ...IDENTITY_COLUMNS, ...FIGURE_COLUMNS, ...PROPERTY_COLUMNS } as const satisfies Columns;

/** Shown as `event$…`, each from the property of the same name with a leading `$`. */
export const EVENT_FIELDS = [
  ...(["pay_method", "pay_reason", "brand", "os", "network_type", "ip", "browser", "ad_type", "ad_unit_id"] as const),
  ...(["adn_type", "app_crashed_reason", "ecpm", "event_duration", "guide_step", "order_id", "pay_amount"] as const),
  ...(["pay_type", "scene_name", "scene_path", "share_depth", "share_method", "ta_account_id"] as const),
  ...(["ta_distinct_id", "third_platform_type", "url_path", "url_query"] as const),
] as const;

type EventColumns = Readonly<Record<`event$${(typeof EVENT_FIELDS)[number]}`, "property">>;

export const ORDER_COLUMNS = {
  ...SHARED_COLUMNS,
  PayEventTime: "time",
  ModifyTime: "time",
  Amount: "cents",
  PayCount: "number",
  BackAmount: "cents",
  PassStatus: "bit",
  IsVirtual: "bit",
  TraceID: "text",
  PostbackCnt: "number",
  Status: "text",
  event$is_first_pay: "flag",
  ...(Object.fromEntries(EVENT_FIELDS.map((name) => [`event$${name}`, "property"])) as EventColumns),
} as const satisfies Columns;

/** What the console and exports show of an order beyond the interface, whose record is fixed. */
export const REFUND_COLUMNS = {
  RefundAmount: "cents",
  RefundTime: "time",
  NetAmount: "cents",
} as const satisfies Columns;

export const USER_COLUMNS = {
  ...SHARED_COLUMNS,
  user$first_visit_time: "property",
  user$name: "property",
} as const satisfies Columns;

/** Columns of a user whom a return has moved. */
export const RETURN_COLUMNS = {
  ReAttributeAdAid: "text",
  ReAttributeAdCid: "text",
  ReAttributeAdGid: "text",
  ReAttributeAdPlatform: "text",
  ReAttributeAdvertiserID: "text",
  ReAttributeCSite: "text",
  ReAttributeChannel: "text",
  ReAttributeCreateTime: "time",
  ReAttributeTurboPromotedObjectID: "text",
  ReAttributeRetargetingCount: "number",
  ReAttributeAdClickTime: "time",
} as const satisfies Columns;

/** Columns of the device. A missing text is shown as the word `empty`. */
export const DEVICE_COLUMNS = {
  DeviceId: "number",
  OS: "number",
  Idfa: "text",
  Idfv: "text",
  Caid1: "text",
  Caid2: "text",
  Oaid: "text",
  Imei: "text",
  AndroidId: "text",
  Android_Version: "text",
  Api_Version: "number",
  Rom: "text",
  Rom_version: "text",
  Aspect_Ratio: "text",
  Phone_Brand: "text",
  Phone_Model: "text",
} as const satisfies Columns;

export const orderRecord = Type.Object(schemasOf(ORDER_COLUMNS));
export type OrderListRecord = Static<typeof orderRecord>;

const refundedOrderRecord = Type.Object({ ...schemasOf(ORDER_COLUMNS), ...schemasOf(REFUND_COLUMNS) });
export type RefundedOrderRecord = Static<typeof refundedOrderRecord>;

export const userRecord = Type.Object({
  ...schemasOf(USER_COLUMNS),
  re_attribute_info: Type.Union([Type.Null(), Type.Object(schemasOf(RETURN_COLUMNS))]),
  device_info: Type.Object(schemasOf(DEVICE_COLUMNS)),
});
export type UserListRecord = Static<typeof userRecord>;

export const pageInfo = Type.Object({
  page: Type.Integer(),
  page_size: Type.Integer(),
  total_number: Type.Integer(),
  total_page: Type.Integer(),
});

const orderTotal = Type.Object({
  user$pay_max_amount: Type.Integer({ description: "Largest payment of these users" }),
  user$pay_amount_sum: Type.Integer({ description: "All payments of these users" }),
  Amount: Type.Integer(),
  BackAmount: Type.Integer(),
});

export const orderList = Type.Object({
  page_info: pageInfo,
  list: Type.Array(orderRecord),
  total: Type.Array(orderTotal, { minItems: 1, maxItems: 1 }),
});
export type OrderList = Static<typeof orderList>;

export const refundedOrderList = Type.Object({
  ...orderList.properties,
  list: Type.Array(refundedOrderRecord, { description: "`NetAmount`: the amount less refunds" }),
});
export type RefundedOrderList = Static<typeof refundedOrderList>;

export const userList = Type.Object({
  page_info: pageInfo,
  list: Type.Array(userRecord),
  total: Type.Array(Type.Object({}), { maxItems: 0 }),
});
export type UserList = Static<typeof userList>;

export const orderListAnswer = envelopeSchema(orderList);
export const refundedOrderListAnswer = envelopeSchema(refundedOrderList);
export const userListAnswer = envelopeSchema(userList);
