import type { Readable } from "node:stream";
import {
  AD_LEVELS,
  type AdLevel,
  type AdObject,
  type Advertiser,
  storeAdObjects,
  storeAdvertisers,
} from "../db/ad-names.ts";
import { type Cost, deleteCosts, storeCosts } from "../db/cost.ts";
import type { Executor } from "../db/engine/sql.ts";
import { type AppRebate, storeRebates } from "../db/rebate.ts";
import { isDay } from "../domain/calendar.ts";
import { readRebate } from "../domain/rebate.ts";
import { OPERATING_SYSTEMS } from "../domain/user/operating-system.ts";
import { LIMITS } from "../limits.ts";
import { platformOfLink } from "../platform/registry.ts";
import { type CsvShape, readCsv } from "./csv-file.ts";

/**
 * Each import returns the number of rows. A wrong line leaves part of the file behind: run it in a transaction.
 *
 * A file tells the costs of an ad whole: by creative or not, its rows replace all that are stored of the ad and day.
 */
export function importCosts(
  tx: Executor,
  file: Readable,
  { appId, changedAtMs }: { appId: number; changedAtMs: number },
): Promise<number> {
  const replaced = new Set<string>();
  return readCsv(file, costsOf(appId), async (rows) => {
    // The rows of an ad may come at several times.
    const first = rows.filter((row) => !replaced.has(adKeyOf(row)));
    await deleteCosts(tx, first);
    for (const row of first) replaced.add(adKeyOf(row));
    await storeCosts(tx, rows, changedAtMs);
  });
}

export function importAdvertisers(tx: Executor, file: Readable): Promise<number> {
  return readCsv(file, ADVERTISERS, (rows) => storeAdvertisers(tx, rows));
}

export function importAdObjects(tx: Executor, file: Readable): Promise<number> {
  return readCsv(file, AD_OBJECTS, (rows) => storeAdObjects(tx, rows));
}

export function importRebates(
  tx: Executor,
  file: Readable,
  { appId, changedAtMs }: { appId: number; changedAtMs: number },
): Promise<number> {
  return readCsv(file, rebatesOf(appId), (rows) => storeRebates(tx, rows, changedAtMs));
}

export const COST_COLUMNS = [
  ...(["date", "ad_platform", "advertiser_id", "gid", "aid", "creative", "csite", "channel", "os_platform"] as const),
  ...(["turbo_promoted_object_id", "impressions", "clicks", "cost"] as const),
] as const;

export function costsOf(appId: number): CsvShape<(typeof COST_COLUMNS)[number], Cost> {
  return {
    columns: COST_COLUMNS,
    required: ["date"],
    read: (cells) => ({
      appId,
      day: day(cells.date),
      adPlatform: platform(cells.ad_platform),
      advertiserId: key(cells.advertiser_id, "advertiser_id"),
      gid: key(cells.gid, "gid"),
      aid: key(cells.aid, "aid"),
      cid: key(cells.creative, "creative"),
      csite: key(cells.csite, "csite"),
      channel: key(cells.channel, "channel"),
      osPlatform: os(cells.os_platform),
      campaignId: key(cells.turbo_promoted_object_id, "turbo_promoted_object_id"),
      impressions: count(cells.impressions, "impressions"),
      clicks: count(cells.clicks, "clicks"),
      costE4: money(cells.cost),
    }),
    key: costKey,
  };
}

function costKey({ impressions: _i, clicks: _c, costE4: _e, appId: _a, ...key }: Cost): string[] {
  return Object.values(key);
}

/** What identifies the ad and day of a cost, whatever the creative. */
export function adKeyOf(cost: Cost): string {
  return JSON.stringify(costKey({ ...cost, cid: "" }));
}

export const ADVERTISER_COLUMNS = [
  ...(["ad_platform", "advertiser_id", "name", "status", "remark", "operator", "dept"] as const),
] as const;

export const ADVERTISERS: CsvShape<(typeof ADVERTISER_COLUMNS)[number], Advertiser> = {
  columns: ADVERTISER_COLUMNS,
  required: ["ad_platform", "advertiser_id"],
  read: ({ ad_platform, advertiser_id, ...rest }) => ({
    adPlatform: platform(ad_platform),
    advertiserId: named(advertiser_id, "advertiser_id"),
    ...rest,
  }),
  key: ({ adPlatform, advertiserId }) => [adPlatform, advertiserId],
};

export const AD_OBJECT_COLUMNS = ["ad_platform", "level", "id", "name", "status"] as const;

export const AD_OBJECTS: CsvShape<(typeof AD_OBJECT_COLUMNS)[number], AdObject> = {
  columns: AD_OBJECT_COLUMNS,
  required: ["ad_platform", "level", "id"],
  read: ({ ad_platform, level, id, name, status }) => {
    if (!(AD_LEVELS as readonly string[]).includes(level)) throw new Error("level must be plan, ad or creative");
    return { adPlatform: platform(ad_platform), level: level as AdLevel, objectId: named(id, "id"), name, status };
  },
  key: ({ adPlatform, level, objectId }) => [adPlatform, level, objectId],
};

export const REBATE_COLUMNS = [
  ...(["ad_platform", "advertiser_id", "start_date", "end_date", "cash_percent", "credit_percent"] as const),
] as const;

export function rebatesOf(appId: number): CsvShape<(typeof REBATE_COLUMNS)[number], AppRebate> {
  return {
    columns: REBATE_COLUMNS,
    required: ["ad_platform", "advertiser_id", "start_date"],
    read: (cells) => ({
      ...readRebate({
        ...cells,
        ad_platform: platform(cells.ad_platform),
        advertiser_id: key(cells.advertiser_id, "advertiser_id"),
        cash_percent: percent(cells.cash_percent, "cash_percent"),
        credit_percent: percent(cells.credit_percent, "credit_percent"),
      }),
      appId,
    }),
    key: ({ adPlatform, advertiserId, fromDay }) => [adPlatform, advertiserId, fromDay],
  };
}

function day(text: string): string {
  if (!isDay(text)) throw new Error("date must look like 2026-11-15");
  return text;
}

/** The platform's own name, from any name it is known by; the empty text stays empty. */
function platform(text: string): string {
  if (text === "") return "";
  const found = platformOfLink(text);
  if (!found) throw new Error("ad_platform is not the name of an ad platform");
  return found.name;
}

function os(text: string): string {
  const lower = text.toLowerCase();
  if (["", "unknown", ...OPERATING_SYSTEMS].includes(lower)) return lower;
  throw new Error(`os_platform must be ${OPERATING_SYSTEMS.join(", ")} or empty`);
}

function key(text: string, column: string): string {
  if (Buffer.byteLength(text) > LIMITS.dimensionBytes) {
    throw new Error(`${column} is longer than ${LIMITS.dimensionBytes} bytes`);
  }
  return text;
}

function named(text: string, column: string): string {
  if (text === "") throw new Error(`${column} is empty`);
  return key(text, column);
}

function count(text: string, column: string): number {
  if (!/^\d{0,15}$/.test(text)) throw new Error(`${column} must be a whole number`);
  return Number(text);
}

/** A number with or without its percent sign; the empty text is 0. */
function percent(text: string, column: string): number {
  if (!/^(\d{1,3}(\.\d{1,4})?\s?%?)?$/.test(text)) throw new Error(`${column} must be a percentage such as 3.5`);
  return Number(text.replace("%", ""));
}

/** Converts major units with up to 4 decimals exactly to ten-thousandths. */
function money(text: string): number {
  const [, whole = "", fraction = ""] = /^(\d{1,11})(?:\.(\d{1,4}))?$/.exec(text) ?? [];
  if (whole === "" && text !== "") throw new Error("cost must be a number with up to 4 decimals");
  return Number(`${whole}${fraction.padEnd(4, "0")}`);
}
