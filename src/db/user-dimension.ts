import { ORGANIC } from "../domain/attribution/attribution.ts";
import type { Hours } from "../domain/calendar.ts";
import { CUBE_DIMENSIONS, type FineDimension, type UserMeasure } from "../domain/cube.ts";
import { shownAdvertiser } from "./ad-account.ts";
import { identifier, listed, type Sql, sql } from "./engine/sql.ts";
import type { EventRow } from "./event.ts";

/**
 * The users and days to count; `where` is a condition on the user, aliased u. `fine` are the dimensions wanted beyond
 * those of the cube; if the hour is one of them, `hours` are those of the days. `rules`: whether the app may have share
 * rules; without any, nothing is looked up for them. `measures`: those that are counted by the hour; by default all.
 */
export type UserRange = {
  appId: number;
  fromDay: string;
  untilDay: string;
  where?: Sql;
  fine?: readonly FineDimension[];
  hours?: Hours | undefined;
  rules?: "some" | "none";
  measures?: readonly UserMeasure[];
  /** Of events that are only in the lake, those that tell what users did by the hour. */
  cold?: readonly EventRow[] | undefined;
};

/** The platform of a user or an order, as reports show it. */
export const shownPlatformOf = (row: Sql): Sql =>
  sql`case ${row}.ad_platform when '' then ${ORGANIC} else ${row}.ad_platform end`;

/** That of the user u. */
export const shownPlatform = shownPlatformOf(sql`u`);

/** Dimensions whose value is not simply the user's column. */
const SHOWN: Readonly<Record<string, Sql>> = { ad_platform: shownPlatform, advertiser_id: shownAdvertiser };

/** The id of a material, which is 0 or a macro in the launch queries of ads that do not have it. */
const materialOf = (name: Sql): Sql => sql`substring(u.ad_data ->> ${name} from '^[1-9][0-9]{0,39}$')`;

/** The materials of Ocean Engine: video, image, playable, title, landing page, download page. */
const MATERIALS = [sql`'mid3'`, sql`'mid1'`, sql`'mid4'`, sql`'mid2'`, sql`'mid5'`, sql`'mid6'`];

/**
 * The creative of the user u. Ads of Ocean Engine's version 2.0 are put together from materials, and may name no
 * creative; the first material they name then stands for it.
 */
export const shownCreative = sql`case when u.cid <> '' or u.ad_platform <> 'bytedance' then u.cid
  else coalesce(${listed(MATERIALS.map(materialOf))}, '') end`;

/** The instant from which the first caliber counts the user u. */
export const TOUCHED_AT = sql`coalesce(u.touched_at_ms, u.registered_at_ms)`;

/** The hour of an instant. Its place among the starts tells it, by the same calendar that gives each instant its day. */
function hourOf(atMs: Sql, { startsMs, names }: Hours): Sql {
  return sql`coalesce((${names}::text[])[width_bucket(${atMs}, ${startsMs}::bigint[])], '')`;
}

const cubeDimensions = listed(
  CUBE_DIMENSIONS.map((name) => sql`${SHOWN[name] ?? sql`u.${identifier(name)}`} as ${identifier(name)}`),
);

/** The dimensions of the user u, under their names in reports; `atMs` is the instant whose hour counts. */
export function userDimensions({ fine = [], hours }: Pick<UserRange, "fine" | "hours">, atMs?: Sql): Sql {
  const columnOf = (name: FineDimension) => {
    if (name === "creative") return shownCreative;
    if (!atMs || !hours) throw new Error("There is no hour to count by.");
    return hourOf(atMs, hours);
  };
  return listed([cubeDimensions, ...fine.map((name) => sql`${columnOf(name)} as ${identifier(name)}`)]);
}

/** The names alone. */
export function dimensionList(fine: readonly FineDimension[] = []): Sql {
  return listed([...CUBE_DIMENSIONS, ...fine].map(identifier));
}
