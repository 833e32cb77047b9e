import type { App } from "../../src/db/app.ts";
import type { Row } from "../http/fixture.ts";
import { dayOf, recentDays } from "../http/report/reports.ts";

/** What belongs to the other app, and must be neither seen nor changed. */
export const THEIRS = {
  client: "their-client",
  order: "their-order",
  channel: "their-channel",
  openid: "their-openid",
  campaign: "theirs0123456789",
  /** Known once it is created. */
  ruleId: 0,
  viewId: 0,
  segmentId: 0,
};

/** A call that is valid except for the app, and its expected answer. */
export type AdminCase = { kind: "admin"; call: (app: Pick<App, "appId">) => Row; code: number };

const ofAdmin = (code: number, call: AdminCase["call"]): AdminCase => ({ kind: "admin", code, call });

const ORDERS = { source: "order" };
const DATES = { date_list: ["2024-01-01", "2024-01-02"] };
const events = ({ appId }: Pick<App, "appId">) => {
  return { app_id: appId, question: { ...DATES, by: "total", series: [{ ...ORDERS, measure: "count" }] } };
};
const funnel = ({ appId }: Pick<App, "appId">) => {
  return { app_id: appId, question: { ...DATES, steps: [ORDERS, ORDERS], window_minutes: 60 } };
};
const retention = ({ appId }: Pick<App, "appId">) => {
  return { app_id: appId, question: { ...DATES, by: "day", periods: 1, first: ORDERS, back: ORDERS } };
};

const distribution = ({ appId }: Pick<App, "appId">) => {
  return { app_id: appId, question: { ...DATES, ...ORDERS, measure: "times" } };
};
const path = ({ appId }: Pick<App, "appId">) => {
  return { app_id: appId, question: { ...DATES, event: "e", direction: "after", gap_minutes: 30, levels: 2 } };
};
const segment = ({ appId }: Pick<App, "appId">) => {
  return { app_id: appId, question: { ...DATES, segment: { kind: "did_not", ...ORDERS } } };
};

const connector = ({ appId }: Pick<App, "appId">) => {
  const declaration = {
    url: "https://platform.example/",
    query: { click: "{click_id}" },
    success: { kind: "status" },
    codes: { pay: "3" },
  };
  return { app_id: appId, ad_platform: "uc", declaration };
};
const REBATES = "ad_platform,advertiser_id,start_date\nvivo,cross-app,2024-01-01\n";
const ecpm = ({ appId }: Pick<App, "appId">) => ({ app_id: appId, ad_unit_id: "unit-1", start_date: "2024-01-01" });
const rebate = ({ appId }: Pick<App, "appId">) => {
  return { app_id: appId, ad_platform: "oppo", advertiser_id: "cross-app", start_date: "2024-01-01" };
};
const REFUNDS = "order_id,amount,time\ncross-app,1,2024-01-01 00:00:00\n";
const range = () => ({ from: dayOf(Date.now()), to: dayOf(Date.now()) });
const cell = () => ({ date_list: recentDays(), statistics_caliber: "user_activated_time", decimal_point: 2 });

const asked = () => ({
  ...cell(),
  metrics_list: ["AppActivateStandard"],
  dims_list: ["gid"],
  filtering: { channel_list: [THEIRS.channel], turbo_promoted_object_id_list: [THEIRS.campaign] },
});

/** Every endpoint of the admin interface. */
export const ADMIN_CASES: Readonly<Record<string, AdminCase>> = {
  "GET /admin/api/v1/apps": ofAdmin(0, () => ({})),
  "GET /admin/api/v1/apps/checklist": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/apps/create": ofAdmin(1004, () => ({ name: " " })),
  "POST /admin/api/v1/apps/edit": ofAdmin(0, ({ appId }) => ({ app_id: appId, name: "ours" })),
  "POST /admin/api/v1/apps/keys": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/apps/rotate": ofAdmin(0, ({ appId }) => ({ app_id: appId, which: "aes_key" })),
  "GET /admin/api/v1/metadata": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/metadata/events/declare": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    names: ["our_event"],
    state: "declared",
  })),
  "POST /admin/api/v1/metadata/properties/declare": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    properties: [{ scope: "user", name: "our_property", type: "bool" }],
  })),
  // With a valid token but for our app: the other app's data is not found there.
  "GET /admin/api/v1/campaigns": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/campaigns/create": ofAdmin(0, ({ appId }) => ({ app_id: appId, name: "ours" })),
  "POST /admin/api/v1/campaigns/edit": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    turbo_promoted_object_id: THEIRS.campaign,
    name: "x",
  })),
  "GET /admin/api/v1/campaigns/links": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    turbo_promoted_object_id: THEIRS.campaign,
  })),
  "GET /admin/api/v1/platforms": ofAdmin(0, () => ({})),
  "GET /admin/api/v1/attribution/rules": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/attribution/rules": ofAdmin(0, ({ appId }) => ({ app_id: appId, rules: { click_window: "3d" } })),
  "GET /admin/api/v1/attribution/why": ofAdmin(2000, ({ appId }) => ({ app_id: appId, client_id: THEIRS.client })),
  "POST /admin/api/v1/attribution/what-if": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    ...range(),
    rules: { click_window: "1d" },
  })),
  "GET /admin/api/v1/attribution/fraud": ofAdmin(0, ({ appId }) => ({ app_id: appId, ...range() })),
  "POST /admin/api/v1/cost/import": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    csv: `date,cost\n${dayOf(Date.now())},1\n`,
  })),
  "POST /admin/api/v1/advertiser/import": ofAdmin(0, () => ({
    csv: "ad_platform,advertiser_id,name\ntencent,cross-app,x\n",
  })),
  "POST /admin/api/v1/ad-object/import": ofAdmin(0, () => ({
    csv: "ad_platform,level,id,name\ntencent,ad,cross-app,x\n",
  })),
  "POST /admin/api/v1/cost/import/preview": ofAdmin(0, ({ appId }) => ({ app_id: appId, csv: "date\n" })),
  "POST /admin/api/v1/advertiser/import/preview": ofAdmin(0, () => ({ csv: "ad_platform,advertiser_id\n" })),
  "POST /admin/api/v1/ad-object/import/preview": ofAdmin(0, () => ({ csv: "ad_platform,level,id\n" })),
  "GET /admin/api/v1/cost": ofAdmin(0, ({ appId }) => ({ app_id: appId, ...range() })),
  "GET /admin/api/v1/cost/rows": ofAdmin(0, ({ appId }) => ({ app_id: appId, ...range() })),
  "GET /admin/api/v1/cost/pull": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/cost/pull/stop": ofAdmin(1004, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/report/explain": ofAdmin(0, ({ appId }) => ({
    ...cell(),
    app_id: appId,
    metric: "AppROI",
    row: { channel: THEIRS.channel },
  })),
  // The shared server has no lake; test/lake/ask.test.ts attacks one.
  "GET /admin/api/v1/analysis": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/analysis/events": ofAdmin(1004, events),
  "POST /admin/api/v1/analysis/events/users": ofAdmin(1004, (app) => ({ ...events(app), cell: { series: 0 } })),
  "POST /admin/api/v1/analysis/funnel": ofAdmin(1004, funnel),
  "POST /admin/api/v1/analysis/funnel/users": ofAdmin(1004, (app) => ({
    ...funnel(app),
    cell: { step: 0, end: "reached", kind: "all" },
  })),
  "POST /admin/api/v1/analysis/retention": ofAdmin(1004, retention),
  "POST /admin/api/v1/analysis/retention/users": ofAdmin(1004, (app) => ({ ...retention(app), cell: { kind: "all" } })),
  "POST /admin/api/v1/analysis/distribution": ofAdmin(1004, distribution),
  "POST /admin/api/v1/analysis/distribution/users": ofAdmin(1004, (app) => ({ ...distribution(app), cell: {} })),
  "POST /admin/api/v1/analysis/path": ofAdmin(1004, path),
  "POST /admin/api/v1/analysis/path/users": ofAdmin(1004, (app) => ({ ...path(app), cell: { level: 0, event: "e" } })),
  "POST /admin/api/v1/analysis/segment": ofAdmin(1004, segment),
  "POST /admin/api/v1/analysis/segment/users": ofAdmin(1004, (app) => ({ ...segment(app), cell: {} })),
  "GET /admin/api/v1/segments": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/segments/save": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    segment_id: THEIRS.segmentId,
    name: "x",
    condition: { kind: "did_not", ...ORDERS },
  })),
  "POST /admin/api/v1/segments/rename": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    segment_id: THEIRS.segmentId,
    name: "x",
  })),
  "POST /admin/api/v1/segments/remove": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    segment_id: THEIRS.segmentId,
  })),
  "POST /admin/api/v1/segments/export": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    segment: THEIRS.segmentId,
    kind: "clients",
  })),
  "POST /admin/api/v1/analysis/sql": ofAdmin(1004, ({ appId }) => ({ app_id: appId, statement: "select 1" })),
  "POST /admin/api/v1/report/ad": ofAdmin(0, ({ appId }) => ({ ...asked(), app_id: appId })),
  "POST /admin/api/v1/report/ad/batch": ofAdmin(0, ({ appId }) => ({ app_id: appId, reports: [asked()] })),
  "POST /admin/api/v1/report/ad/csv": ofAdmin(0, ({ appId }) => ({ ...asked(), app_id: appId })),
  "POST /admin/api/v1/report/request-text": ofAdmin(0, ({ appId }) => ({ ...asked(), app_id: appId })),
  "GET /admin/api/v1/report/catalogue": ofAdmin(0, () => ({})),
  "GET /admin/api/v1/report/views": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/report/views/save": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    view_id: THEIRS.viewId,
    name: "x",
    parameters: {},
  })),
  "POST /admin/api/v1/report/views/rename": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    view_id: THEIRS.viewId,
    name: "x",
  })),
  "POST /admin/api/v1/report/views/share": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    view_id: THEIRS.viewId,
    is_shared: true,
  })),
  "POST /admin/api/v1/report/views/remove": ofAdmin(1004, ({ appId }) => ({ app_id: appId, view_id: THEIRS.viewId })),
  "POST /admin/api/v1/export": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    kind: "users",
    user_filtering: { client_id_list: [THEIRS.client], channel_list: [THEIRS.channel] },
  })),
  "POST /admin/api/v1/report/orders": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    user_filtering: { client_id_list: [THEIRS.client] },
    event_filtering: {},
  })),
  "POST /admin/api/v1/report/users": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    user_filtering: { channel_list: [THEIRS.channel] },
    event_filtering: {},
  })),
  "GET /admin/api/v1/report/fields": ofAdmin(0, ({ appId }) => ({ app_id: appId, list: "orders" })),
  "GET /admin/api/v1/user": ofAdmin(2000, ({ appId }) => ({ app_id: appId, client_id: THEIRS.client })),
  "GET /admin/api/v1/user/timeline": ofAdmin(2000, ({ appId }) => ({ app_id: appId, client_id: THEIRS.client })),
  "GET /admin/api/v1/user/search": ofAdmin(0, ({ appId }) => ({ app_id: appId, q: THEIRS.client })),
  "GET /admin/api/v1/developers": ofAdmin(0, () => ({})),
  "POST /admin/api/v1/developers/create": ofAdmin(0, ({ appId }) => ({ name: "cross-app", apps: [appId] })),
  "POST /admin/api/v1/developers/edit": ofAdmin(1004, () => ({ id: 2_000_000_000, apps: "all" })),
  "POST /admin/api/v1/developers/rotate": ofAdmin(1004, () => ({ id: 2_000_000_000 })),
  "POST /admin/api/v1/developers/decide": ofAdmin(1004, () => ({ id: 2_000_000_000, state: "refused" })),
  "POST /admin/api/v1/cost/pull": ofAdmin(1004, ({ appId }) => ({ app_id: appId })),
  "GET /admin/api/v1/cost/status": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "GET /admin/api/v1/audit": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "GET /admin/api/v1/console-users": ofAdmin(0, () => ({})),
  "POST /admin/api/v1/console-users/create": ofAdmin(1004, () => ({
    name: "",
    grants: [{ app_id: null, role: "analyst" }],
  })),
  "POST /admin/api/v1/console-users/link": ofAdmin(1004, () => ({ name: "nobody-at-all" })),
  "POST /admin/api/v1/console-users/role": ofAdmin(1004, () => ({
    name: "nobody-at-all",
    grants: [{ app_id: null, role: "admin" }],
  })),
  "POST /admin/api/v1/console-users/sign-out": ofAdmin(1004, () => ({ name: "nobody-at-all" })),
  "POST /admin/api/v1/console-users/reset-second-factor": ofAdmin(1004, () => ({ name: "nobody-at-all" })),
  "POST /admin/api/v1/console-users/remove": ofAdmin(1004, () => ({ name: "nobody-at-all" })),
  "GET /admin/api/v1/api-tokens": ofAdmin(0, () => ({})),
  "POST /admin/api/v1/api-tokens/create": ofAdmin(1004, () => ({ name: " ", role: "viewer", apps: "all" })),
  "POST /admin/api/v1/api-tokens/revoke": ofAdmin(1004, () => ({ id: 2_000_000_000 })),
  "GET /admin/api/v1/postback/rules": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/postback/rules/create": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    moment: "pay",
    event_type: "pay",
  })),
  "POST /admin/api/v1/postback/rules/edit": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    rule_id: THEIRS.ruleId,
    share: "1%",
  })),
  "POST /admin/api/v1/postback/rules/order": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    rule_ids: [THEIRS.ruleId],
  })),
  "POST /admin/api/v1/postback/rules/remove": ofAdmin(1004, ({ appId }) => ({ app_id: appId, rule_id: THEIRS.ruleId })),
  "POST /admin/api/v1/postback/dry-run": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    ...range(),
    rule_id: THEIRS.ruleId,
  })),
  "GET /admin/api/v1/postbacks": ofAdmin(0, ({ appId }) => ({ app_id: appId, client_id: THEIRS.client })),
  "GET /admin/api/v1/postback/recent": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "GET /admin/api/v1/postback/status": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/postback/resend": ofAdmin(1004, ({ appId }) => ({ app_id: appId, client_id: THEIRS.client })),
  "GET /admin/api/v1/postback/test": ofAdmin(0, () => ({ ad_platform: "tencent" })),
  "POST /admin/api/v1/postback/test": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    ad_platform: "oppo",
    event_type: "pay",
    client_id: THEIRS.client,
  })),
  "GET /admin/api/v1/accounts": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "GET /admin/api/v1/accounts/fields": ofAdmin(0, () => ({ ad_platform: "tencent" })),
  "POST /admin/api/v1/accounts/set": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    ad_platform: "kuaishou",
    postbacks: "off",
  })),
  "GET /admin/api/v1/connectors": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/connectors/check": ofAdmin(0, connector),
  "POST /admin/api/v1/connectors/set": ofAdmin(0, connector),
  "POST /admin/api/v1/connectors/remove": ofAdmin(1004, ({ appId }) => ({ app_id: appId, ad_platform: "weibo" })),
  "GET /admin/api/v1/accounts/authorise": ofAdmin(0, () => ({})),
  // An authorisation belongs to a session, and the admin token has none.
  "POST /admin/api/v1/accounts/authorise": ofAdmin(2004, ({ appId }) => ({ app_id: appId, ad_platform: "bytedance" })),
  "POST /admin/api/v1/accounts/authorise/return": ofAdmin(2004, () => ({ returned: { state: "s" } })),
  "POST /admin/api/v1/accounts/authorise/choose": ofAdmin(2004, () => ({
    authorisation_id: 1,
    advertiser_ids: ["1"],
  })),
  "GET /admin/api/v1/rebates": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/rebates/set": ofAdmin(0, rebate),
  "POST /admin/api/v1/rebates/remove": ofAdmin(1004, (app) => ({ ...rebate(app), start_date: "2023-01-01" })),
  "GET /admin/api/v1/ad-revenue": ofAdmin(0, ({ appId }) => ({ app_id: appId, ...range() })),
  "GET /admin/api/v1/ecpms": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/ecpms/set": ofAdmin(0, (app) => ({ ...ecpm(app), ecpm: 35.5 })),
  "POST /admin/api/v1/ecpms/remove": ofAdmin(1004, (app) => ({ ...ecpm(app), start_date: "2023-01-01" })),
  "GET /admin/api/v1/shares": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/shares/set": ofAdmin(0, ({ appId }) => ({ app_id: appId, rules: [{ share: 0.7 }] })),
  "POST /admin/api/v1/rebate/import": ofAdmin(0, ({ appId }) => ({ app_id: appId, csv: REBATES })),
  "POST /admin/api/v1/rebate/import/preview": ofAdmin(0, ({ appId }) => ({ app_id: appId, csv: REBATES })),
  "POST /admin/api/v1/refund/import": ofAdmin(0, ({ appId }) => ({ app_id: appId, csv: REFUNDS })),
  "POST /admin/api/v1/refund/import/preview": ofAdmin(0, ({ appId }) => ({ app_id: appId, csv: REFUNDS })),
  // Its app stands in the query, and its body is no JSON.
  "POST /admin/api/v1/events/import": ofAdmin(1004, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/accounts/remove": ofAdmin(1004, ({ appId }) => ({ app_id: appId, ad_platform: "oppo" })),
  "GET /admin/api/v1/callbacks": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/callbacks/set": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    kind: "attribution",
    url: "https://8.8.8.8/",
  })),
  "POST /admin/api/v1/callbacks/remove": ofAdmin(1004, ({ appId }) => ({ app_id: appId, kind: "event" })),
  "GET /admin/api/v1/doctor": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "GET /admin/api/v1/health": ofAdmin(0, () => ({})),
  "GET /admin/api/v1/ledger": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "GET /admin/api/v1/set-aside": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/set-aside/replay": ofAdmin(0, () => ({ ids: [2_000_000_000] })),
  "POST /admin/api/v1/users/erase": ofAdmin(2000, ({ appId }) => ({ app_id: appId, client_id: THEIRS.client })),
};
