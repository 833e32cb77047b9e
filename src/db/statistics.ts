import { type Executor, execute, identifier, listed, sql } from "./engine/sql.ts";

/**
 * The tables that grow with an app's first users, and the columns by which the planner estimates how many rows an app, or a
 * day of it, has. Only these: with all columns and indexes, statistics took a sixth of the time of 100,000 registrations.
 */
const COLUMNS = {
  user_account: ["app_id", "cohort_day", "registered_day"],
  user_day: ["app_id", "day"],
  user_ad_day: ["app_id", "day"],
  user_key: ["app_id"],
  attribution_decision: ["app_id"],
  orders: ["app_id", "day"],
  refund: ["app_id", "day"],
  postback: ["app_id"],
} as const;

/** Refreshes the planner's statistics about users, except where that is under way already. */
export async function refreshStatistics(executor: Executor): Promise<void> {
  const tables = Object.entries(COLUMNS).map(
    ([table, columns]) => sql`${identifier(table)} (${listed(columns.map((column) => identifier(column)))})`,
  );
  await execute(executor, sql`analyze (skip_locked) ${listed(tables)}`);
}
