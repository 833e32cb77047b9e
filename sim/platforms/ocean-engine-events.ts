const words = (text: string): string[] => text.split(" ");

/**
 * Certain: names of the event manager's list, as two public callers copied it. `micro_game_ltv` is one ad's revenue in
 * a mini-game, `retention_2d` and its like the day on which the user came back.
 */
const EVENT_NAMES: ReadonlySet<string> = new Set([
  ...words("phone form view active active_register active_pay phone_confirm phone_connect phone_effective"),
  ...words("consult_effective in_app_order in_app_order_balance in_app_order_7d in_app_uv in_app_cart"),
  ...words("in_app_pay in_app_detail_uv add_to_cart game_addiction customer_effective coupon form_answer"),
  ...words("next_day_open deep_purchase page_view shopping wechat other multiple pre_loan_credit"),
  ...words("low_loan_credit high_loan_credit loan idcard_information bankcard_information personal_information"),
  ...words("certification_information lt_roi authorization consult_clue stay_time purchase_roi purchase_roi_2d"),
  ...words("purchase_roi_7d notify_download premium_payment premium_ROI premium_upgrade ug_roi in_wechat_login"),
  ...words("in_wechat_pay unfollow_in_wechat submit_certification identification first_order"),
  ...words("first_rental_order rental_order_finish retention_2d retention_3d retention_4d retention_5d"),
  ...words("retention_6d retention_7d retention_14d retention_30d retention_days ltv0 arpu0 arrival_lead"),
  ...words("failed_lead first_class finish_class conversion_class x_class add_teacher in_app_next_day_open"),
  ...words("in_app_retention_2d in_app_retention_3d in_app_retention_4d in_app_retention_5d"),
  ...words("in_app_retention_6d in_app_retention_7d in_app_retention_14d in_app_retention_28d"),
  ...words("in_app_retention_30d withdraw_insurance withdraw_m2 withdraw_iaa withdraw open_account impression"),
  ...words("ipu_qualify lu_click lu_convert lu_cost lu_show order_refund full_refund_within_6h button_click"),
  ...words("wechat_qrcode_show wechat_qrcode_try work_wechat_added work_wechat_dialog work_wechat_confirm"),
  ...words("work_wechat_unfriend wechat_delete wechat_reply3 group_chat first_pay supply_active"),
  ...words("supply_active_pay link_active micro_game_ltv im_reply im_dialog im_arouse is_risk_user"),
  ...words("is_low_quality_user certified_pay information_check password_acquisition password_send"),
  ...words("successful_pay intention_pay action_pay csj_agg_lp negative pending ad_live_donate phone_lab_1"),
  ...words("phone_dial phone_fail store_arrival store_appointment active_pay_all deep_purchase_all"),
  ...words("collection_and_wishlist login complete_tutorial create_gamerole update_level complete_section"),
  ...words("quest time_spent launch_app open_shop draw_lottery gain_token consume_token compete"),
  ...words("achieve_success gain_resource consume_resource add_friend create_union join_union occupy_territory"),
]);
/** Families of the list that are no use to games, and `key_action1` to `key_action20`. */
const EVENT_FAMILY = /^(?:(?:clue|loan|ecom|groot)_[a-z0-9_]+|key_action(?:[1-9]|1\d|20))$/;

export const isEventName = (name: string): boolean => EVENT_NAMES.has(name) || EVENT_FAMILY.test(name);

/** Certain: codes of the older interface and of the gateway for WeChat mini-games. */
export const EVENT_CODES: ReadonlySet<string> = new Set(
  [
    ...[0, 1, 2, 3, 4, 5, 6, 7, 19, 20, 21, 22, 23, 25, 28, 29, 127, 128, 175, 176, 179, 194, 195, 196],
    ...[202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 213, 214, 218, 448, 449, 450],
  ].map(String),
);
