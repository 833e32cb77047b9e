/** The event types that an ad platform can receive, by the names of the interface. */
export const POSTBACK_EVENT_TYPES = [
  ...(["activate", "register", "pay", "twice", "key_active", "withdraw_iaa", "create_role", "login"] as const),
  ...(["customer_effective", "wx_launch", "re_active", "retention_2d", "retention_3d", "retention_4d"] as const),
  ...(["retention_5d", "retention_6d", "retention_7d", "retention_14d", "retention_30d"] as const),
  ...(["service_pay_success", "complete_order", "first_day_pay", "first_pay"] as const),
  ...(["ad_quality", "game_action", "action_valid"] as const),
] as const;
export type PostbackEventType = (typeof POSTBACK_EVENT_TYPES)[number];

/** 0 waiting, 1 accepted by the platform, 2 failed, 3 skipped. */
export const POSTBACK_STATUS = { waiting: 0, accepted: 1, givenUp: 2, skipped: 3 } as const;
export type PostbackStatusName = keyof typeof POSTBACK_STATUS;
export type PostbackStatus = (typeof POSTBACK_STATUS)[PostbackStatusName];

/** Whether any postback about an order was let through by the rules, as the order list shows it. */
export const PASS_STATUS = { held: 0, passed: 1 } as const;
export type PassStatus = (typeof PASS_STATUS)[keyof typeof PASS_STATUS];

/**
 * The status that an order with several postbacks shows: the first of these that any of them has. An order without
 * postbacks shows waiting.
 */
export const SHOWN_FIRST: readonly PostbackStatus[] = [
  POSTBACK_STATUS.accepted,
  POSTBACK_STATUS.waiting,
  POSTBACK_STATUS.givenUp,
  POSTBACK_STATUS.skipped,
];
export const SHOWN_WITHOUT_POSTBACK = POSTBACK_STATUS.waiting;

export function shownStatusOf(statuses: ReadonlySet<PostbackStatus>): PostbackStatus {
  return SHOWN_FIRST.find((status) => statuses.has(status)) ?? SHOWN_WITHOUT_POSTBACK;
}

/** The statuses as people read them. */
export const POSTBACK_STATUS_NAMES: readonly string[] = ["waiting", "accepted", "failed", "skipped"];
/** The statuses as documents and help texts list them: "0 waiting, 1 accepted …". */
export const POSTBACK_STATUS_LIST = POSTBACK_STATUS_NAMES.map((name, status) => `${status} ${name}`).join(", ");

/** `status_text` of the interface, which programs compare: a failed postback stays "given up" there. */
export const POSTBACK_STATUS_TEXTS: readonly string[] = ["waiting", "accepted", "given up", "skipped"];
