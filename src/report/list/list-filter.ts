import { shownAdvertiser } from "../../db/ad-account.ts";
import type { App } from "../../db/app.ts";
import { rowsOf } from "../../db/engine/rows.ts";
import { type Sql, sql } from "../../db/engine/sql.ts";
import { ORGANIC } from "../../domain/attribution/attribution.ts";
import { type Calendar, calendarOf } from "../../domain/calendar.ts";
import { ApiError } from "../../errors.ts";
import { readDates } from "../dates.ts";
import type { OrderFilterBody, QueryItem, UserFilterBody } from "./list-request.ts";

/** The conditions of a list's filter on the user u. All must hold. */
export function userConditions(filter: UserFilterBody): Sql[] {
  return [...groupConditions(filter, sql`u`), ...otherConditions(filter)];
}

/** Those on day of registration and platform, for anything that has both: users, their orders, totals. */
export function groupConditions(filter: UserFilterBody, row: Sql): Sql[] {
  const conditions: Sql[] = [];
  if (filter.create_date_list && filter.create_date_list.length > 0) {
    const { fromDay, untilDay } = readDates(filter.create_date_list, "user_filtering.create_date_list");
    conditions.push(sql`${row}.registered_day >= ${fromDay}::date and ${row}.registered_day < ${untilDay}::date`);
  }
  const platforms = filter.ad_platform_list?.map((name) => (name === ORGANIC ? "" : name));
  const isOfPlatform = textCondition(sql`${row}.ad_platform`, platforms);
  return isOfPlatform ? [...conditions, isOfPlatform] : conditions;
}

/** Those that need the user u. */
export function otherConditions(filter: UserFilterBody): Sql[] {
  const conditions: Sql[] = [];
  const oneOf = (column: Sql, values: readonly (string | number)[] | undefined, type: Sql = sql`text`) => {
    if (values && values.length > 0) conditions.push(sql`${column} = any(${values}::${type}[])`);
  };
  oneOf(sql`u.channel`, filter.channel_list);
  oneOf(sql`u.version`, filter.version_list, sql`numeric`);
  oneOf(sql`u.turbo_promoted_object_id`, filter.turbo_promoted_object_id_list);
  oneOf(sql`(${shownAdvertiser})`, filter.advertiser_id_list);
  oneOf(sql`u.gid`, filter.gid_list);
  oneOf(sql`u.aid`, filter.aid_list);
  oneOf(sql`u.cid`, filter.cid_list);
  oneOf(sql`u.wx_openid`, filter.wx_openid_list);
  oneOf(sql`u.client_id`, filter.client_id_list);
  return conditions;
}

/** The condition that the user u is one of many clients. As a list of values it would take the planner a second. */
export function amongClients(clients: readonly string[] | undefined): Sql[] {
  if (!clients) return [];
  const chosen = rowsOf("chosen", clients, { clientId: ["text", (client) => client] });
  return [sql`u.client_id in (select chosen.client_id collate "C" from ${chosen})`];
}

/**
 * The same filter on rows c of the cube, or undefined when it uses columns that the cube does not have. Days are those
 * of the registration.
 */
export function cubeConditions(filter: UserFilterBody): Sql[] | undefined {
  const { create_date_list = [], ad_platform_list, channel_list, turbo_promoted_object_id_list, ...others } = filter;
  const { advertiser_id_list, gid_list, aid_list, ...unknown } = others;
  if (Object.values(unknown).some((list) => Array.isArray(list) && list.length > 0)) return undefined;
  const lists: [Sql, readonly string[] | undefined][] = [
    [sql`c.ad_platform`, ad_platform_list],
    [sql`c.channel`, channel_list],
    [sql`c.turbo_promoted_object_id`, turbo_promoted_object_id_list],
    [sql`c.advertiser_id`, advertiser_id_list],
    [sql`c.gid`, gid_list],
    [sql`c.aid`, aid_list],
  ];
  const conditions = lists.flatMap(([column, values]) => textCondition(column, values) ?? []);
  if (create_date_list.length > 0) {
    const { fromDay, untilDay } = readDates(create_date_list, "user_filtering.create_date_list");
    conditions.push(sql`c.day >= ${fromDay}::date and c.day < ${untilDay}::date`);
  }
  return conditions;
}

export function orderConditions(filter: OrderFilterBody, app: Pick<App, "timeZone">): Sql[] {
  const conditions: Sql[] = [];
  const add = (condition: Sql | undefined) => condition && conditions.push(condition);
  const calendar = calendarOf(app.timeZone);
  add(numberCondition(sql`o.cents`, filter.Amount, "Amount"));
  add(numberCondition(sql`o.back_cents`, filter.BackAmount, "BackAmount"));
  add(timeCondition(sql`coalesce(o.modified_at_ms, o.received_at_ms)`, filter.UploadTime, calendar, "UploadTime"));
  add(timeCondition(sql`o.at_ms`, filter.PayEventTime, calendar, "PayEventTime"));
  if (filter.Status !== undefined && filter.Status !== "") add(sql`o.postback_status = ${Number(filter.Status)}`);
  add(countCondition(sql`o.pay_count`, filter.PayCount, "PayCount"));
  add(countCondition(sql`o.postback_count`, filter.PostbackCnt, "PostbackCnt"));
  add(textCondition(sql`o.trace_id`, filter.TraceID));
  add(textCondition(sql`coalesce(o.properties ->> '$pay_method', '')`, filter.event$pay_method));
  add(textCondition(sql`coalesce(o.properties ->> '$pay_reason', '')`, filter.event$pay_reason));
  return conditions;
}

function numberCondition(column: Sql, item: QueryItem | undefined, name: string): Sql | undefined {
  if (!item) return undefined;
  const { operator, values } = item;
  if (operator === "inner") return values.length === 0 ? undefined : sql`${column} = any(${values}::numeric[])`;
  if (values.length !== 2) throw new ApiError("badParameter", `event_filtering.${name}: between takes two values.`);
  return sql`${column} between ${values[0]}::numeric and ${values[1]}::numeric`;
}

/** A range with both ends included: a second with its fractions, a date as the whole day. */
function timeCondition(
  column: Sql,
  times: readonly string[] | undefined,
  calendar: Calendar,
  name: string,
): Sql | undefined {
  if (!times || times.length === 0) return undefined;
  const [from, to] = times;
  const fromMs = from === undefined ? undefined : calendar.rangeOf(from)?.fromMs;
  const untilMs = to === undefined ? undefined : calendar.rangeOf(to)?.untilMs;
  if (times.length !== 2 || fromMs === undefined || untilMs === undefined) {
    throw new ApiError(
      "badParameter",
      `event_filtering.${name} must hold two times such as 2026-11-15 08:00:00, or two dates.`,
    );
  }
  if (fromMs >= untilMs) throw new ApiError("badParameter", `event_filtering.${name} is reversed.`);
  return sql`${column} >= ${fromMs} and ${column} < ${untilMs}`;
}

function countCondition(column: Sql, values: readonly string[] | undefined, name: string): Sql | undefined {
  if (!values || values.length === 0) return undefined;
  const bad = values.find((value) => !/^\d{1,9}$/.test(value));
  if (bad !== undefined)
    throw new ApiError("badParameter", `event_filtering.${name} must hold whole numbers as texts.`);
  return sql`${column} = any(${values.map(Number)}::int[])`;
}

function textCondition(column: Sql, values: readonly string[] | undefined): Sql | undefined {
  return values && values.length > 0 ? sql`${column} = any(${values}::text[])` : undefined;
}
