import { USER_MEASURES, type UserMeasure } from "../domain/cube.ts";
import { identifier, listed, type Sql, sql } from "./engine/sql.ts";

/** How measures are computed; the others are nothing. */
export type Sums = Partial<Record<UserMeasure, Sql>>;

/** All measures as columns, in their order. */
export function measures(sums: Sums): Sql {
  return listed(USER_MEASURES.map((name) => sql`${sums[name] ?? sql`null`}::bigint as ${identifier(name)}`));
}

/** Days since the user was last active, last paid or last saw an ad; distinctUsers counts by them. */
export const GAPS = ["active", "pay", "ad"] as const;
export const noGaps = listed(GAPS.map((name) => sql`null::int as ${identifier(`${name}_gap`)}`));
