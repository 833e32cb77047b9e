import type { LakeKind } from "../domain/lake.ts";

/** Raised when a file of this version can no longer be read as one of the version before. */
export const LAKE_SCHEMA = 1;

/**
 * A column of a file. `read` is what it is in the rows that come from the database (src/db/lake-source.ts), in the same
 * order; `value` makes the column of it.
 */
type Column = { name: string; read: { name: string; type: string }; value?: string; says: string };

const text = (name: string, says: string): Column => ({ name, read: { name, type: "VARCHAR" }, says });
const whole = (name: string, says: string, type = "BIGINT"): Column => ({ name, read: { name, type }, says });
const instant = (name: string, says: string): Column => ({
  name,
  read: { name: `${name}_ms`, type: "BIGINT" },
  value: `make_timestamp_ms(${name}_ms)::TIMESTAMP_MS`,
  says,
});

/** Columns of the ads that brought a user, or that cost something; named as in reports. */
const AD = {
  platform: text("ad_platform", "Ad platform; `natural` for organic users"),
  advertiser: text("advertiser_id", "Account"),
  gid: text("gid", "Plan"),
  aid: text("aid", "Ad"),
  creative: text("creative", "Creative"),
  csite: text("csite", "Placement"),
  channel: text("channel", "Channel"),
  os: text("os_platform", "Device type: `ios`, `android`, `harmony`, `unknown`"),
  campaign: text("turbo_promoted_object_id", "Campaign"),
};

const client = text("client_id", "The user's id");
const properties = (of: string) => text("properties", `Properties of the ${of}, as JSON text`);

/** `order`: how the rows of a file are sorted, so that equal values lie together and a reader can leave most of it out. */
type Table = { columns: readonly Column[]; order: string; says: string };

/** The day is not in the files but in their path. */
export const LAKE_TABLES: Readonly<Record<LakeKind, Table>> = {
  events: {
    says: "Every stored event, on the local day on which it happened",
    columns: [
      client,
      text("event", "Name; of a change of the profile, the operation"),
      text("type", "`track` or `profile`"),
      instant("time", "When it happened, UTC"),
      instant("received_time", "When it was received, UTC"),
      properties("event"),
      { name: "event_id", read: { name: "event_id", type: "UUID" }, says: "Tells events of a user apart" },
    ],
    order: "event, client_id, time",
  },
  users: {
    says: "Every user with the source that reports count, on the local day of the registration",
    columns: [
      client,
      instant("registered_time", "When the user registered, UTC"),
      instant("touched_time", "When the user clicked or saw the ad, UTC; null for organic users"),
      whole("cohort_day", "Local day of the touch, else of the registration", "DATE"),
      AD.channel,
      whole("version", "Version"),
      ...[AD.platform, AD.advertiser, AD.gid, AD.aid, AD.creative, AD.csite, AD.campaign, AD.os],
      properties("user"),
    ],
    order: "client_id",
  },
  orders: {
    says: "Every order, on the local day of its payment",
    columns: [
      client,
      text("trace_id", "The order's id"),
      instant("time", "When it was paid, UTC"),
      instant("received_time", "When it was received, UTC"),
      whole("pay_cents", "Amount in hundredths of the app's currency"),
      whole("refund_cents", "Of that, refunded"),
      text("currency", "Currency in which it was paid"),
      whole("pay_count", "1 for the user's first payment, and so on", "INTEGER"),
      whole("is_virtual", "Whether it was paid in virtual currency", "BOOLEAN"),
      properties("order"),
    ],
    order: "time, trace_id",
  },
  costs: {
    says: "What each ad cost on a day",
    columns: [
      ...[AD.platform, AD.advertiser, AD.gid, AD.aid, AD.creative, AD.csite, AD.channel, AD.os, AD.campaign],
      whole("impressions", "Impressions"),
      whole("clicks", "Clicks"),
      whole("cost_e4", "Cost in ten-thousandths of the app's currency"),
    ],
    order: "ad_platform, advertiser_id, gid, aid, creative, csite, channel, os_platform, turbo_promoted_object_id",
  },
};
