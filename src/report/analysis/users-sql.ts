import { LIMITS } from "../../limits.ts";
import { type Duck, duck } from "./duck-sql.ts";
import { numberOrNull, type Row, textOr } from "./row.ts";

/** The first users among rows that have a client: each once, in order, with the number of all on every row. */
export function usersAmong(rows: Duck, limit: number = LIMITS.analysisUsers): Duck {
  return duck`select client_id, count(*) over () as users
from (
  ${rows}
)
group by client_id
order by client_id
limit ${limit}`;
}

/** Numbers users, for tables that a text as a key would slow down. As a bigint, a funnel over 200,000 users takes a tenth longer. */
export const USER_NUMBER = duck`cast(row_number() over () as integer)`;

export function usersAnswer(rows: readonly Row[]): { client_ids: string[]; count: number } {
  return { client_ids: rows.map((row) => textOr(row.client_id, "")), count: numberOrNull(rows[0]?.users) ?? 0 };
}
