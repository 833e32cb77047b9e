import type { Role } from "../../src/domain/access/role.ts";

/**
 * Who may call what, written down a second time: the operations below /admin/api/v1/ by the weakest role that may call
 * them. `installation` is the admin of all apps.
 */
export const CALLED_BY: Readonly<Record<Role | "installation", string>> = {
  viewer: `GET apps, GET apps/checklist, GET campaigns, GET platforms, GET attribution/fraud, GET cost, GET cost/rows,
    POST report/ad, POST report/ad/batch, POST report/ad/csv, POST report/request-text, GET report/catalogue,
    GET report/views, POST report/views/save, POST report/views/rename, POST report/views/remove, GET ad-revenue, GET health, GET ledger,
    GET api-tokens, POST api-tokens/create, POST api-tokens/revoke`,
  analyst: `GET metadata, GET campaigns/links, GET attribution/rules, GET attribution/why, POST attribution/what-if,
    POST cost/import/preview, POST advertiser/import/preview, POST ad-object/import/preview, POST rebate/import/preview,
    POST refund/import/preview, GET cost/pull, GET cost/status, POST report/explain, POST export, POST report/orders,
    POST report/users, GET report/fields, GET user, GET user/timeline, GET user/search, GET developers, GET audit,
    GET console-users, GET postback/rules, POST postback/dry-run, GET postbacks, GET postback/recent, GET postback/status,
    GET postback/test, GET analysis, POST analysis/events, POST analysis/events/users, POST analysis/funnel,
    POST analysis/funnel/users, POST analysis/retention, POST analysis/retention/users, POST analysis/sql,
    POST analysis/distribution, POST analysis/distribution/users, POST analysis/path, POST analysis/path/users,
    POST analysis/segment, POST analysis/segment/users, GET segments, POST segments/save, POST segments/rename,
    POST segments/remove, POST segments/export, GET accounts, GET accounts/fields, GET connectors, POST connectors/check, GET accounts/authorise,
    GET rebates, GET ecpms, GET shares, GET callbacks, GET doctor, GET set-aside`,
  operator: `POST campaigns/create, POST campaigns/edit, POST cost/import, POST advertiser/import, POST ad-object/import,
    POST rebate/import, POST refund/import, POST cost/pull, POST cost/pull/stop, POST postback/resend, POST postback/test,
    POST events/import, POST rebates/set, POST rebates/remove, POST ecpms/set, POST ecpms/remove, POST set-aside/replay`,
  admin: `POST apps/edit, POST apps/keys, POST apps/rotate, POST metadata/events/declare, POST metadata/properties/declare,
    POST attribution/rules, POST report/views/share, POST postback/rules/create, POST postback/rules/edit,
    POST postback/rules/order, POST postback/rules/remove, POST accounts/set, POST accounts/remove, POST connectors/set,
    POST connectors/remove, POST accounts/authorise, POST accounts/authorise/return, POST accounts/authorise/choose,
    POST shares/set, POST callbacks/set, POST callbacks/remove, POST users/erase`,
  installation: `POST apps/create, POST developers/create, POST developers/edit, POST developers/rotate,
    POST developers/decide, POST console-users/create, POST console-users/link, POST console-users/role,
    POST console-users/remove, POST console-users/sign-out, POST console-users/reset-second-factor`,
};

/** Operations about all apps together, which need the role for all apps. */
export const ABOUT_ALL_APPS = `POST advertiser/import, POST ad-object/import, POST advertiser/import/preview,
  POST ad-object/import/preview, GET developers, GET console-users`;

/** Operations by which somebody gets a way in, or loses one: tokens for programs are refused, whatever their role. */
export const NOT_BY_TOKEN = `POST api-tokens/create, POST api-tokens/revoke, POST console-users/create,
  POST console-users/link, POST console-users/role, POST console-users/reset-second-factor`;

export function operationsIn(text: string): string[] {
  return text.split(",").map((name) => name.trim().replace(" ", " /admin/api/v1/"));
}
