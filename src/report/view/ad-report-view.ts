import { identifier, listed, type Sql, sql } from "../../db/engine/sql.ts";
import { COST_MEASURES, CUBE_DIMENSIONS, type Measure, USER_MEASURES } from "../../domain/cube.ts";
import { labelOf } from "../metric/measure-label.ts";
import { big, countedCosts, day, text, type View, type ViewColumn } from "./view-tables.ts";

const DIMENSION_SAYS: Readonly<Record<(typeof CUBE_DIMENSIONS)[number], string>> = {
  ad_platform: "Ad platform; `natural` for organic users",
  advertiser_id: "Account",
  gid: "Plan",
  aid: "Ad",
  channel: "Channel",
  os_platform: "Device type",
  csite: "Placement",
  turbo_promoted_object_id: "Campaign",
};

const UNITS: readonly [RegExp, string][] = [
  [/_cents$/, ", in hundredths of the app's currency"],
  [/_micros$/, ", in millionths of the app's currency"],
  [/_e4$/, ", in ten-thousandths of the app's currency"],
];

/** The name of a measure in the view, which always tells the unit of money, and what it says. */
export function shownMeasure(measure: Measure): { name: string; says: string } {
  const [, what] = /^(pay|ad|ruled|share)_[ds]\d+$/.exec(measure) ?? [];
  const name = what === undefined ? measure : `${measure}${what === "pay" || what === "ruled" ? "_cents" : "_micros"}`;
  const unit = UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? "";
  return { name, says: `${labelOf(measure).label}${unit}` };
}

const measures = [...USER_MEASURES, ...COST_MEASURES];
const dimensions = listed(CUBE_DIMENSIONS.map((name) => sql`s.${identifier(name)}`));
const noneOf = (names: readonly string[]): Sql => listed(names.map((name) => sql`null::bigint as ${identifier(name)}`));
const ownOf = (names: readonly string[]): Sql => listed(names.map((name) => sql`s.${identifier(name)}`));

/** The rows that the ad report adds up: those of the cube under their caliber, and costs under each. */
const counted = sql`select s.app_id, case s.cohort when 'touch' then 'user_activated_time' else 'behavior_occurred_time' end as caliber,
    s.day, ${dimensions}, ${ownOf(USER_MEASURES)}, ${noneOf(COST_MEASURES)} from cube s
  union all
  select s.app_id, k.caliber, s.day, ${dimensions}, ${noneOf(USER_MEASURES)}, ${ownOf(COST_MEASURES)}
  from (${countedCosts}) s, (values ('user_activated_time'), ('behavior_occurred_time')) k (caliber)`;

const sumOf = (measure: Measure): ViewColumn => {
  const { name, says } = shownMeasure(measure);
  return big(name, sql`coalesce(sum(r.${identifier(measure)}), 0)::bigint`, says);
};

/** Sums of the ad report by day and its dimensions. Active, paying and ad users count once a day: days cannot be added up. */
export const AD_REPORT: View = {
  name: "ad_report",
  says: "Sums of the ad report by caliber, day and dimensions. Choose one caliber",
  from: sql`(${counted}) r`,
  app: sql`r.app_id`,
  groups: ["app_id", "caliber", "day", ...CUBE_DIMENSIONS],
  columns: [
    { name: "app_id", type: "integer", value: sql`r.app_id`, says: "App id" },
    text("caliber", sql`r.caliber`, "`user_activated_time` or `behavior_occurred_time`, as in the report"),
    day("day", sql`r.day`, "Local day"),
    ...CUBE_DIMENSIONS.map((name) => text(name, sql`r.${identifier(name)}`, DIMENSION_SAYS[name])),
    ...measures.map(sumOf),
  ],
};
