import type { App } from "../../db/app.ts";
import { type Sql, sql } from "../../db/engine/sql.ts";
import type { JsonValue } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import type { PropertyCondition } from "./list-request.ts";

/** A field of a record as a JSON value: figures are columns, all others are properties of the user or the event. */
type Field = (app: Pick<App, "timeZone">) => Sql;

const column = (expression: Sql) => (): Sql => sql`to_jsonb(${expression})`;
const micros = (expression: Sql) => column(sql`trim_scale(${expression} / 1000000::numeric)`);
const average = (sum: Sql, count: Sql) =>
  column(sql`case when ${count} = 0 then 0 else trim_scale(round(${sum} * 10::numeric / ${count}) / 10000) end`);
const time =
  (expression: Sql): Field =>
  ({ timeZone }) =>
    sql`to_jsonb(to_char(to_timestamp(${expression} / 1000.0) at time zone ${timeZone}, 'YYYY-MM-DD HH24:MI:SS'))`;

const USER_FIELDS: Readonly<Record<string, Field>> = {
  ad_24h_avg_ecpm: average(sql`u.ad_24h_micros`, sql`u.ad_24h_count`),
  ad_24h_count: column(sql`u.ad_24h_count`),
  ad_24h_ltv: micros(sql`u.ad_24h_micros`),
  ad_avg_ecpm: average(sql`u.ad_micros`, sql`u.ad_count`),
  ad_count: column(sql`u.ad_count`),
  ad_ltv: micros(sql`u.ad_micros`),
  ad_max_ecpm: micros(sql`u.ad_max_ecpm_micros`),
  city: column(sql`u.city`),
  country: column(sql`u.country`),
  province: column(sql`u.province`),
  first_pay_method: column(sql`u.first_pay_method`),
  first_pay_reason: column(sql`u.first_pay_reason`),
  first_pay_time: time(sql`u.first_pay_at_ms`),
  interstitial_ad_24_ltv: micros(sql`u.interstitial_ad_24h_micros`),
  interstitial_ad_count: column(sql`u.interstitial_ad_count`),
  interstitial_ad_ltv: micros(sql`u.interstitial_ad_micros`),
  interstitial_ad_max_ecpm: micros(sql`u.interstitial_ad_max_ecpm_micros`),
  pay_amount_sum: column(sql`u.pay_cents`),
  pay_count: column(sql`u.pay_count`),
  pay_max_amount: column(sql`u.pay_max_cents`),
  reward_ad_24h_ltv: micros(sql`u.reward_ad_24h_micros`),
  reward_ad_count: column(sql`u.reward_ad_count`),
  reward_ad_ltv: micros(sql`u.reward_ad_micros`),
  reward_ad_max_ecpm: micros(sql`u.reward_ad_max_ecpm_micros`),
};

const EVENT_FIELDS: Readonly<Record<string, Field>> = {
  is_first_pay: column(sql`o.pay_count = 1`),
};

/** The value of a property. Preset properties are named without their `$`, like an app's own properties. */
function property(properties: Sql, name: string): Sql {
  return sql`coalesce(${properties} -> ${`$${name}`}::text, ${properties} -> ${name}::text)`;
}

/** Conditions on properties. With the scope `user` there are no events to test. */
export function propertyConditions(
  conditions: readonly PropertyCondition[],
  app: Pick<App, "timeZone">,
  scope: "user" | "order",
): Sql[] {
  return conditions.map((condition) => {
    const [, kind, name] = /^(user|event)\$([A-Za-z][A-Za-z0-9_]{0,49})$/.exec(condition.field) ?? [];
    if (kind === undefined || name === undefined || (kind === "event" && scope === "user")) {
      const known = scope === "user" ? "user$…" : "user$… or event$…";
      throw bad(`${JSON.stringify(condition.field.slice(0, 60))} is not a field of this list; fields are ${known}.`);
    }
    const fields = kind === "user" ? USER_FIELDS : EVENT_FIELDS;
    const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const field = known ? known(app) : property(kind === "user" ? sql`u.properties` : sql`o.properties`, name);
    return conditionOn(field, condition);
  });
}

function conditionOn(field: Sql, { operator, values = [] }: PropertyCondition): Sql {
  if (values.some((value) => typeof value === "number" && !Number.isFinite(value))) throw bad("a number is too large.");
  const isSet = sql`coalesce(${field}, 'null') not in ('null', '""')`;
  switch (operator) {
    case "is_set":
      return isSet;
    case "not_set":
      return sql`not ${isSet}`;
    case "equal":
    case "inner":
      if (operator === "equal" && values.length !== 1) throw bad("equal takes one value.");
      if (values.length === 0) throw bad("inner takes at least one value.");
      return sql`${field} = any(${texts(values)}::jsonb[])`;
    case "not_equal":
      if (values.length !== 1) throw bad("not_equal takes one value.");
      return sql`${field} is distinct from ${texts(values)[0]}::jsonb`;
    case "between":
      return between(field, values);
  }
}

/** A range of numbers, or of texts such as times. A value of another type never matches. */
function between(field: Sql, values: readonly JsonValue[]): Sql {
  const [from, to] = values;
  const isPair =
    values.length === 2 && typeof from === typeof to && (typeof from === "number" || typeof from === "string");
  if (!isPair) throw bad("between takes two numbers, or two texts.");
  const type = typeof from;
  return sql`(jsonb_typeof(${field}) = ${type} and ${field} >= ${texts(values)[0]}::jsonb and ${field} <= ${texts(values)[1]}::jsonb)`;
}

function texts(values: readonly JsonValue[]): string[] {
  return values.map((value) => JSON.stringify(value));
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", `property_condition: ${message}`);
}
