/**
 * Where each table is when the database is distributed by Citus. A test compares the lists with the schema.
 *
 * Distributed by app: what belongs to an app and grows with it. Rows of one app are on one worker, so that statements
 * and transactions that name their app need no other machine. The first table leads: the others lie beside it.
 */
export const DISTRIBUTED = [
  ...["user_account", "user_day", "user_ad_day", "user_key", "user_total", "login_total"],
  ...["event", "event_origin", "orders", "order_key", "order_total", "refund"],
  ...["touch", "touch_key", "touch_day", "touch_minute", "attribution_decision", "asa_token"],
  ...["postback", "outbox", "earlier_postback"],
  ...["cube", "dirty_day", "ledger_minute", "event_meta", "property_meta"],
  ...["cost", "cost_hour", "ad_campaign", "ad_revenue", "ad_revenue_user", "ad_revenue_change"],
  ...["app_cursor", "erased_user", "set_aside"],
  ...["lake_app", "lake_mark", "lake_late", "lake_file", "lake_gone"],
] as const;

/** On every machine: small tables that statements about an app join. */
export const EVERYWHERE = [
  ...["app", "campaign", "event_day", "advertiser", "ad_object", "ad_ecpm", "rebate", "pay_share_rule", "ad_account"],
  ...["platform_account", "postback_rule", "cost_pull", "cost_attempt"],
] as const;

/** On the coordinator alone: what concerns the installation, its people or its settings, and no statement joins. */
export const ON_COORDINATOR = [
  ...["migration", "installation", "installation_secret", "node", "apply_holder", "journal_cursor", "touch_week"],
  ...["admin_user", "admin_grant", "admin_identity", "api_token", "console_session"],
  ...["setup_link", "totp", "recovery_code"],
  ...["audit_log", "report_view", "saved_segment", "report_call", "developer_app", "authorisation"],
  ...["attribution_setting", "platform_secret", "media_token", "declared_connector", "callback", "lane_pause"],
  "lake_state",
] as const;
