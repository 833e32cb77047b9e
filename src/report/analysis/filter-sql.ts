import type { Condition, Filter } from "../../contract/analysis/condition.ts";
import { LIMITS } from "../../limits.ts";
import { type Duck, duck, grouped, listed } from "./duck-sql.ts";
import { type Field, isOfUser, jsonField, numberField, readField, type Scope, textField } from "./field.ts";
import { refused, shown } from "./refusal.ts";

/**
 * Filters as conditions. Where the result is null it does not match: trees have no negation, so nothing turns it around.
 */
export function filterSql(filter: Filter, scope: Scope): Duck {
  if (!("join" in filter)) return conditionSql(filter, scope);
  return grouped(
    filter.parts.map((part) => filterSql(part, scope)),
    filter.join,
  );
}

/** Whether the filter names a field of the user. */
export function readsUser(filter: Filter | undefined, scope: Scope): boolean {
  if (!filter) return false;
  if ("join" in filter) return filter.parts.some((part) => readsUser(part, scope));
  return isOfUser(readField(filter.field, scope));
}

type Tree = { join?: unknown; parts?: unknown };

/** Refuses trees that are empty, too deep or too large. */
export function checkTree(tree: unknown, depth = 0, count = { left: LIMITS.analysisConditions as number }): void {
  if (typeof tree !== "object" || tree === null)
    throw refused("A condition is an object: see the description of filter.");
  const { join, parts } = tree as Tree;
  if (join === undefined && parts === undefined) {
    count.left -= 1;
    if (count.left < 0) throw refused(`There are more than ${LIMITS.analysisConditions} conditions: use fewer.`);
    return;
  }
  if (join !== "and" && join !== "or") throw refused(`join is ${shown(join)}: use and, or or.`);
  if (!Array.isArray(parts) || parts.length === 0)
    throw refused("parts is empty: add a condition, or leave the filter out.");
  if (depth >= LIMITS.analysisDepth)
    throw refused(`Conditions are nested more than ${LIMITS.analysisDepth} levels deep.`);
  for (const part of parts) checkTree(part, depth + 1, count);
}

export function conditionSql({ field: name, operator, values = [] }: Condition, scope: Scope): Duck {
  const field = readField(name, scope);
  if (values.some((value) => typeof value === "number" && !Number.isFinite(value)))
    throw refused(`A value for ${shown(name)} is too large: use a smaller number.`);
  const text = textField(field, scope);
  switch (operator) {
    case "is_set":
      return duck`${text} <> ''`;
    case "not_set":
      return duck`${text} = ''`;
    case "is_true":
      return booleanSql(field, name, "true");
    case "is_false":
      return booleanSql(field, name, "false");
    case "equal":
      return equalSql(field, text, atLeastOne(values, operator));
    case "not_equal":
      return duck`not coalesce(${equalSql(field, text, atLeastOne(values, operator))}, false)`;
    case "contains":
      return oneOfTexts(values, operator, (value) => duck`contains(${text}, ${value})`);
    case "starts_with":
      return oneOfTexts(values, operator, (value) => duck`starts_with(${text}, ${value})`);
    case "less":
      return duck`${numberOf(field, name)} < ${oneNumber(values, operator)}`;
    case "at_most":
      return duck`${numberOf(field, name)} <= ${oneNumber(values, operator)}`;
    case "greater":
      return duck`${numberOf(field, name)} > ${oneNumber(values, operator)}`;
    case "at_least":
      return duck`${numberOf(field, name)} >= ${oneNumber(values, operator)}`;
    case "between":
      return betweenSql(field, { name, text, values });
    default:
      throw refused(`${shown(operator)} is not an operator: use equal, contains, at_least … as described.`);
  }
}

/** Texts are compared with the field's text, numbers with its number only. */
function equalSql(field: Field, text: Duck, values: readonly (string | number)[]): Duck {
  const texts = values.filter((value) => typeof value === "string");
  const numbers = values.filter((value) => typeof value === "number");
  const number = numberField(field);
  const conditions = [
    ...(texts.length > 0 ? [duck`${text} in (${listed(texts)})`] : []),
    ...(numbers.length > 0 && number ? [duck`${number} in (${listed(numbers)})`] : []),
  ];
  if (conditions.length === 0) return duck`false`;
  // Beside a text that matches, a missing number must not make the condition unknown.
  return conditions.length === 1 ? conditions[0]! : duck`(${conditions[0]!} or coalesce(${conditions[1]!}, false))`;
}

function betweenSql(
  field: Field,
  { name, text, values }: { name: string; text: Duck; values: readonly (string | number)[] },
): Duck {
  const [from, to] = values;
  if (values.length !== 2 || from === undefined || to === undefined || typeof from !== typeof to)
    throw refused(`between takes two numbers, or two texts: give both ends for ${shown(name)}.`);
  // A field that is not set is empty and would be between two texts of which the first is empty.
  if (typeof from === "string") return duck`(${text} <> '' and ${text} between ${from} and ${to})`;
  return duck`${numberOf(field, name)} between ${from} and ${to}`;
}

function booleanSql(field: Field, name: string, word: "true" | "false"): Duck {
  const json = jsonField(field);
  if (json) return duck`${json} = ${word}`;
  if (field.kind === "order" && field.name === "is_virtual")
    return word === "true" ? duck`e.is_virtual` : duck`not e.is_virtual`;
  throw refused(`${shown(name)} is never true or false: use equal.`);
}

function numberOf(field: Field, name: string): Duck {
  const number = numberField(field);
  if (!number) throw refused(`${shown(name)} is a text: use equal, contains, starts_with, or between with two texts.`);
  return number;
}

function oneNumber(values: readonly (string | number)[], operator: string): number {
  const [value] = values;
  if (values.length !== 1 || typeof value !== "number") throw refused(`${operator} takes one number.`);
  return value;
}

function atLeastOne(values: readonly (string | number)[], operator: string): readonly (string | number)[] {
  if (values.length === 0) throw refused(`${operator} takes at least one value.`);
  if (values.some((value) => typeof value !== "string" && typeof value !== "number"))
    throw refused(`${operator} takes texts and numbers.`);
  return values;
}

function oneOfTexts(values: readonly (string | number)[], operator: string, condition: (value: string) => Duck): Duck {
  if (values.length === 0 || values.some((value) => typeof value !== "string" || value === ""))
    throw refused(`${operator} takes at least one text, none of them empty.`);
  return grouped(
    values.map((value) => condition(value as string)),
    "or",
  );
}
