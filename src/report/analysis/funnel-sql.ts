import type { FunnelCell, FunnelQuestion } from "../../contract/analysis/funnel.ts";
import { clauses, type Duck, duck, grouped, lines, named, type Table, withTables } from "./duck-sql.ts";
import { type AskedFunnel, readFunnel, timeName, waysTables } from "./funnel-ways.ts";
import { groupCondition, shownGroups } from "./group-sql.ts";
import { refused, shown } from "./refusal.ts";
import { usersAmong } from "./users-sql.ts";

/** Steps in order: how many users reach each, and how long they take. */
export function funnelSql(question: FunnelQuestion): Duck {
  const asked = readFunnel(question);
  const figures = asked.steps.flatMap((_, index) => figuresOf(index + 1));
  if (asked.split === undefined) {
    const select = duck`select
  ${lines(figures)}
from ways`;
    return withTables(waysTables(asked), select);
  }
  const select = clauses([
    duck`select
  ${lines([duck`grouping(s.place) = 1 as is_all`, duck`s.place`, duck`s.group_1`, ...figures])}`,
    duck`from ways`,
    duck`left join shown s using (group_1)`,
    duck`group by grouping sets ((), (s.place, s.group_1))`,
    duck`order by is_all desc, s.place nulls last`,
  ]);
  return withTables([...waysTables(asked), shownTable(asked)], select);
}

/** The users behind a number. */
export function funnelUsersSql(question: FunnelQuestion, cell: FunnelCell): Duck {
  const asked = readFunnel(question);
  const step = cell.step + 1;
  if (!Number.isInteger(step) || step < 1 || step > asked.steps.length)
    throw refused(`There is no step ${shown(cell.step)}: the last is ${asked.steps.length - 1}, counted from 0.`);
  const conditions = [duck`${timeName(step)} is not null`, ...groupCondition(cell, asked.split !== undefined)];
  if (cell.end === "dropped") {
    if (step === asked.steps.length) throw refused("Nobody drops after the last step: ask who reached it.");
    conditions.push(duck`${timeName(step + 1)} is null`);
  }
  const tables = [...waysTables(asked), ...(cell.kind === "other" ? [shownTable(asked)] : [])];
  return withTables(tables, usersAmong(duck`select client_id from ways where ${grouped(conditions, "and")}`));
}

function shownTable({ top }: AskedFunnel): Table {
  return { name: named("shown"), of: shownGroups(duck`ways`, top) };
}

function figuresOf(step: number): Duck[] {
  const users = duck`count(${timeName(step)}) as ${named(`users_${step}`)}`;
  if (step === 1) return [users];
  const wait = duck`${timeName(step)} - ${timeName(step - 1)}`;
  const waited = duck`sum(${wait}) as ${named(`waited_${step}`)}`;
  return [users, waited, duck`quantile_disc(${wait}, 0.5) as ${named(`median_${step}`)}`];
}
