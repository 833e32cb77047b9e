import type { Codes } from "../connector/codes.ts";

/**
 * The event manager's names (certain). Of a game's own actions, `quest` is the usual one; a rule for a new level names
 * `update_level`. `lt_roi` is an app's ad revenue; a mini-game's has a name of its own.
 */
export const BYTEDANCE_CODES: Codes = {
  activate: "active",
  register: "active_register",
  pay: "active_pay",
  twice: "next_day_open",
  key_active: "game_addiction",
  withdraw_iaa: "withdraw_iaa",
  create_role: "create_gamerole",
  login: "login",
  customer_effective: "customer_effective",
  wx_launch: "in_wechat_login",
  re_active: "page_view",
  retention_2d: "retention_2d",
  retention_3d: "retention_3d",
  retention_4d: "retention_4d",
  retention_5d: "retention_5d",
  retention_6d: "retention_6d",
  retention_7d: "retention_7d",
  retention_14d: "retention_14d",
  retention_30d: "retention_30d",
  service_pay_success: "shopping",
  complete_order: "in_app_order",
  first_day_pay: "active_pay",
  first_pay: "first_pay",
  ad_quality: "lt_roi",
  game_action: "quest",
  action_valid: null,
};

/** Numbers of the older interface, which the gateway for WeChat mini-games also accepts. */
export const BYTEDANCE_V1_CODES: Codes = {
  activate: "0",
  register: "1",
  pay: "2",
  twice: "6",
  key_active: "25",
  withdraw_iaa: null,
  create_role: null,
  login: null,
  customer_effective: "19",
  wx_launch: null,
  re_active: "7",
  retention_2d: null,
  retention_3d: null,
  retention_4d: null,
  retention_5d: null,
  retention_6d: null,
  retention_7d: null,
  retention_14d: null,
  retention_30d: null,
  service_pay_success: "23",
  complete_order: "20",
  first_day_pay: "2",
  first_pay: "2",
  ad_quality: null,
  game_action: "25",
  action_valid: null,
};
