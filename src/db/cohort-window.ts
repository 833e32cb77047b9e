import { WINDOW_DAYS, type WindowModel } from "../domain/cube.ts";
import { identifier, literal, type Sql, sql } from "./engine/sql.ts";

/** Where windows begin: the day, and the number of whole spans of 24 hours from then to the row d. */
export type Base = { cohortDay: Sql; span: Sql };

/** The spans of 24 hours from an instant to the row d. */
export const spanFrom = (baseMs: Sql): Sql => sql`floor((d.at_ms - ${baseMs}) / 86400000.0)`;

/** Each window by name, such as d7, with the condition that the row d is in it. */
export function windowsOf(base: Base): { name: `${WindowModel}${(typeof WINDOW_DAYS)[number]}`; within: Sql }[] {
  return (["d", "s"] as const).flatMap((model) =>
    WINDOW_DAYS.map((days) => ({
      name: `${model}${days}` as const,
      within: sql`filter (where ${base.span} >= 0 and ${windowEnd(model, days, base)})`,
    })),
  );
}

function windowEnd(model: WindowModel, days: number, base: Base): Sql {
  return model === "d" ? sql`d.day < ${base.cohortDay} + ${literal(days)}` : sql`${base.span} < ${literal(days)}`;
}

/** The sum of the rows d within each window, under names such as pay_d7. */
export function windowSums(what: "pay" | "ad", amount: Sql, base: Base): Sql[] {
  return windowsOf(base).map(
    ({ name, within }) => sql`sum_bigint(${amount}) ${within} as ${identifier(`${what}_${name}`)}`,
  );
}
