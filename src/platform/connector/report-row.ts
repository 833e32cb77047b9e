import { isDay } from "../../domain/calendar.ts";
import { e4OfDecimal } from "../../domain/decimal.ts";
import type { JsonValue } from "../../domain/json.ts";
import { cleanId } from "../../domain/user/identity.ts";
import type { AccountSettings } from "./connector.ts";
import type { CreativeCost, HourlyCost, PulledCost, PulledName } from "./cost-connector.ts";
import { countOf, type Refusal, textOf } from "./reply.ts";

/** A row of a report, with values as the platform wrote them. */
export type ReportRow = {
  day: JsonValue | undefined;
  gid: JsonValue | undefined;
  aid: JsonValue | undefined;
  impressions: JsonValue | undefined;
  clicks: JsonValue | undefined;
  cost: JsonValue | undefined;
};

export type Money = { unitDecimals: number; currency: string };

export type Costs = { kind: "costs"; costs: PulledCost[] } | Refusal;

/** The costs of a page, in the unit and the currency that the account's fields name. */
export function costsInUnit(
  rows: readonly ReportRow[],
  options: { platform: string; account: AccountSettings },
): Costs {
  const unitDecimals = UNIT_DECIMALS[options.account("cost_unit").toLowerCase()];
  // A wrong guess would be wrong by a factor of 100.
  if (unitDecimals === undefined) {
    return { kind: "permanent", reason: "The account's cost_unit is neither fen nor yuan." };
  }
  const money = { unitDecimals, currency: options.account("currency") };
  return costsOf(rows, { platform: options.platform, money });
}

export type Creatives = { kind: "creatives"; creatives: CreativeCost[] } | Refusal;

/** The same for rows by creative. */
export function creativesInUnit(
  rows: readonly (ReportRow & { cid: JsonValue | undefined })[],
  options: { platform: string; account: AccountSettings },
): Creatives {
  const creatives: CreativeCost[] = [];
  for (const [cid, own] of grouped(rows, (row) => cleanId(row.cid))) {
    const read = costsInUnit(own, options);
    if (read.kind !== "costs") return read;
    for (const cost of read.costs) creatives.push({ ...cost, cid });
  }
  return { kind: "creatives", creatives };
}

export type HourlyCosts = { kind: "hours"; hours: HourlyCost[] } | Refusal;

/** The same for rows by the hour. */
export function hoursInUnit(
  rows: readonly (ReportRow & { hour: JsonValue | undefined })[],
  options: { platform: string; account: AccountSettings },
): HourlyCosts {
  const hours: HourlyCost[] = [];
  for (const [hour, own] of grouped(rows, (row) => hourOf(row.hour))) {
    if (hour === "") return { kind: "permanent", reason: `${options.platform} sent a row whose hour cannot be read.` };
    const read = costsInUnit(own, options);
    if (read.kind !== "costs") return read;
    for (const cost of read.costs) hours.push({ ...cost, hour });
  }
  return { kind: "hours", hours };
}

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const own = groups.get(keyOf(row));
    if (own) own.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

/** Reads an hour: a number, or a time whose day is told elsewhere. Empty when it is neither. */
function hourOf(value: JsonValue | undefined): string {
  const [, hour = ""] = /^(?:\d{4}-\d\d-\d\d )?(\d{1,2})(?::\d\d){0,2}$/.exec(textOf(value)) ?? [];
  return hour !== "" && Number(hour) < 24 ? hour.padStart(2, "0") : "";
}

/**
 * Adds up rows with the same day, plan and ad, which are the key of a stored cost: costs without an ad come in several
 * rows. A row whose day or cost cannot be read fails the page: leaving it out would lose costs unnoticed.
 */
export function costsOf(rows: readonly ReportRow[], options: { platform: string; money: Money }): Costs {
  const costs = new Map<string, PulledCost>();
  for (const row of rows) {
    const cost = costOf(row, options.money);
    if (!cost) return { kind: "permanent", reason: `${options.platform} sent a row whose day or cost cannot be read.` };
    const key = JSON.stringify([cost.day, cost.gid, cost.aid]);
    const before = costs.get(key);
    costs.set(key, before ? sumOf(before, cost) : cost);
  }
  return { kind: "costs", costs: [...costs.values()] };
}

function costOf(row: ReportRow, money: Money): PulledCost | undefined {
  const day = dayOf(row.day);
  const costE4 = e4OfDecimal(amountOf(row.cost), money.unitDecimals);
  if (day === undefined || costE4 === undefined) return undefined;
  const ids = { gid: cleanId(row.gid), aid: cleanId(row.aid) };
  const counts = { impressions: countOf(row.impressions), clicks: countOf(row.clicks) };
  return { day, ...ids, ...counts, costE4, currency: money.currency };
}

function sumOf(a: PulledCost, b: PulledCost): PulledCost {
  return {
    ...a,
    impressions: a.impressions + b.impressions,
    clicks: a.clicks + b.clicks,
    costE4: a.costE4 + b.costE4,
  };
}

/** Reads a day. Some platforms append the time of midnight, some omit the hyphens. */
function dayOf(value: JsonValue | undefined): string | undefined {
  const day = textOf(value)
    .replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3")
    .slice(0, 10);
  return isDay(day) ? day : undefined;
}

/** An empty text or a dash means zero. */
function amountOf(value: JsonValue | undefined): string {
  const text = textOf(value);
  return /^-*$/.test(text) ? "0" : text;
}

/** One name per plan, ad, creative or account. Rows without an id are dropped. */
export function namesOf(rows: readonly Name[]): PulledName[] {
  const names = new Map<string, PulledName>();
  for (const row of rows) {
    const name = { level: row.level, id: cleanId(row.id), name: textOf(row.name), status: textOf(row.status) };
    const key = `${name.level} ${name.id}`;
    if (name.id !== "" && !names.has(key)) names.set(key, name);
  }
  return [...names.values()];
}

export type Name = {
  level: PulledName["level"];
  id: JsonValue | undefined;
  name: JsonValue | undefined;
  status?: JsonValue | undefined;
};

/** Decimals of the unit. Platforms without the field `cost_unit` use the major unit. */
const UNIT_DECIMALS: Readonly<Record<string, number>> = { "": 0, yuan: 0, fen: 2 };
