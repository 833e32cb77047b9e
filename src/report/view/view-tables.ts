import { shownAdvertiser } from "../../db/ad-account.ts";
import { costRowsOf } from "../../db/cost.ts";
import { type Sql, sql } from "../../db/engine/sql.ts";
import { eventPropertiesText, withOrigin } from "../../db/event-properties.ts";
import { shownCreative, shownPlatform } from "../../db/user-dimension.ts";

/** A column of a view: its type as PostgreSQL names it, what it is made of, and what it says. */
export type ViewColumn = { name: string; type: string; value: Sql; says: string };

/** A view for other programs. `app` is the app of a row, for views of one app; `groups`: the columns by which it adds up. */
export type View = {
  name: string;
  says: string;
  columns: readonly ViewColumn[];
  from: Sql;
  app: Sql;
  groups?: readonly string[];
};

const column = (type: string) => (name: string, value: Sql, says: string) => ({ name, type, value, says });
export const text = column("text");
const whole = column("integer");
export const big = column("bigint");
export const day = column("date");
const json = column("jsonb");
const yes = column("boolean");
const instant = (name: string, ms: Sql, says: string): ViewColumn => ({
  name,
  type: "timestamp with time zone",
  value: sql`to_timestamp(${ms} / 1000.0)`,
  says,
});

const APPS: View = {
  name: "apps",
  says: "One row for each app",
  from: sql`app a`,
  app: sql`a.app_id`,
  columns: [
    whole("app_id", sql`a.app_id`, "App id"),
    text("name", sql`a.name`, "Name"),
    text("time_zone", sql`a.time_zone`, "Time zone of its days"),
    text("currency", sql`a.currency`, "Currency of its amounts"),
    yes("enabled", sql`a.enabled`, "Whether it takes data"),
    instant("created_time", sql`a.created_at_ms`, "When it was created"),
  ],
};

const USERS: View = {
  name: "users",
  says: "One row for each user, with the source that reports count",
  from: sql`user_account u`,
  app: sql`u.app_id`,
  columns: [
    whole("app_id", sql`u.app_id`, "App id"),
    text("client_id", sql`u.client_id`, "The user's id"),
    day("registered_day", sql`u.registered_day`, "Local day of the registration"),
    instant("registered_time", sql`u.registered_at_ms`, "When the user registered"),
    instant("touched_time", sql`u.touched_at_ms`, "When the user clicked or saw the ad; null for organic users"),
    day("cohort_day", sql`u.cohort_day`, "Local day of the touch, else of the registration"),
    text("channel", sql`u.channel`, "Channel"),
    big("version", sql`u.version`, "Version"),
    text("ad_platform", shownPlatform, "Ad platform; `natural` for organic users"),
    text("advertiser_id", shownAdvertiser, "Account"),
    text("gid", sql`u.gid`, "Plan"),
    text("aid", sql`u.aid`, "Ad"),
    text("creative", shownCreative, "Creative"),
    text("csite", sql`u.csite`, "Placement"),
    text("turbo_promoted_object_id", sql`u.turbo_promoted_object_id`, "Campaign"),
    text("os_platform", sql`u.os_platform`, "Device type: `ios`, `android`, `harmony`, `unknown`"),
    json("properties", sql`u.properties`, "Properties of the user"),
  ],
};

const ORDERS: View = {
  name: "orders",
  says: "One row for each order",
  from: sql`orders o`,
  app: sql`o.app_id`,
  columns: [
    whole("app_id", sql`o.app_id`, "App id"),
    day("day", sql`o.day`, "Local day of the payment"),
    text("client_id", sql`o.client_id`, "The user's id"),
    text("trace_id", sql`o.trace_id`, "The order's id"),
    instant("time", sql`o.at_ms`, "When it was paid"),
    instant("received_time", sql`o.received_at_ms`, "When it was received"),
    big("pay_cents", sql`o.cents`, "Amount in hundredths of the app's currency"),
    big(
      "refund_cents",
      sql`coalesce((select sum(r.cents) from refund r where r.app_id = o.app_id and r.trace_id = o.trace_id), 0)::bigint`,
      "Of that, refunded",
    ),
    text("currency", sql`o.currency`, "Currency in which it was paid"),
    whole("pay_count", sql`o.pay_count`, "1 for the user's first payment, and so on"),
    yes("is_virtual", sql`o.is_virtual <> 0`, "Whether it was paid in virtual currency"),
    json("properties", sql`o.properties`, "Properties of the order"),
  ],
};

const EVENTS: View = {
  name: "events",
  says: "One row for each stored event. Name the days: there may be very many",
  from: sql`event e ${withOrigin}`,
  app: sql`e.app_id`,
  columns: [
    whole("app_id", sql`e.app_id`, "App id"),
    day("day", sql`e.day`, "Local day on which it happened; events are stored by it"),
    text("client_id", sql`e.client_id`, "The user's id"),
    text("event", sql`e.event`, "Name; of a change of the profile, the operation"),
    text("type", sql`e.type`, "`track` or `profile`"),
    instant("time", sql`e.at_ms`, "When it happened"),
    instant("received_time", sql`e.received_at_ms`, "When it was received"),
    json("properties", sql`${eventPropertiesText}::jsonb`, "Properties of the event"),
    column("uuid")("event_id", sql`e.fingerprint`, "Tells events of a user apart"),
  ],
};

/** The costs of all apps, as the ad report counts them. */
export const countedCosts = costRowsOf(sql`select * from cost`, { of: sql`c.app_id`, isSeen: sql`true` });

const COSTS: View = {
  name: "costs",
  says: "What each ad cost on a day. Channel, device type and campaign are completed as in the ad report",
  from: sql`(${countedCosts}) c`,
  app: sql`c.app_id`,
  columns: [
    whole("app_id", sql`c.app_id`, "App id"),
    day("day", sql`c.day`, "Local day of the cost"),
    text("ad_platform", sql`c.ad_platform`, "Ad platform"),
    text("advertiser_id", sql`c.advertiser_id`, "Account"),
    text("gid", sql`c.gid`, "Plan"),
    text("aid", sql`c.aid`, "Ad"),
    text("creative", sql`c.creative`, "Creative"),
    text("csite", sql`c.csite`, "Placement"),
    text("channel", sql`c.channel`, "Channel"),
    text("os_platform", sql`c.os_platform`, "Device type"),
    text("turbo_promoted_object_id", sql`c.turbo_promoted_object_id`, "Campaign"),
    big("impressions", sql`c.impressions`, "Impressions"),
    big("clicks", sql`c.clicks`, "Clicks"),
    big("cost_e4", sql`c.cost_e4`, "Cost in ten-thousandths of the app's currency"),
    big("real_cost_e4", sql`c.real_cost_e4`, "The same after rebates"),
  ],
};

export const FACT_VIEWS: readonly View[] = [APPS, USERS, ORDERS, EVENTS, COSTS];
