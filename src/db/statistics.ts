import { type Executor, execute, identifier, listed, sql } from "./engine/sql.ts";

/** The tables with rows of users that grow with the first users of an app, and that are read by user. */
const BY_USER = [
  ...["user_account", "user_day", "user_ad_day", "user_key"],
  ...["attribution_decision", "orders", "refund", "postback"],
] as const;

/** Makes the planner's statistics about users anew, except where that is under way already. */
export async function refreshStatistics(executor: Executor): Promise<void> {
  await execute(executor, sql`analyze (skip_locked) ${listed(BY_USER.map((table) => identifier(table)))}`);
}
