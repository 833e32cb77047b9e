import { type CostBook, type CostRow, numberId, sumBy, yuan } from "./costs.ts";

/** An account of which an authorised caller asks. */
export type Asked = { book: CostBook; account: string; nowMs: number };

export type Level = "account" | "campaign" | "unit";

const ID_OF: Readonly<Record<Level, (row: CostRow) => string>> = {
  account: () => "",
  campaign: ({ planId }) => planId,
  unit: ({ adId }) => adId,
};

/** Certain: reports by unit leave out managed campaigns (省心投); those by campaign and by account hold them. */
export function levelRows(rows: readonly CostRow[], level: Level): CostRow[] {
  const held = level === "unit" ? rows.filter(({ isManaged }) => isManaged !== true) : rows;
  return sumBy(held, (row) => `${row.day} ${ID_OF[level](row)}`);
}

/** A row as both kinds of report show it. Money is in yuan (certain). */
export function shownRow(row: CostRow, level: Level): Record<string, string | number> {
  return {
    stat_date: row.day,
    ...(level === "account" ? {} : { campaign_id: numberId(row.planId), campaign_name: row.planName }),
    ...(level === "unit" ? { unit_id: numberId(row.adId), unit_name: row.adName } : {}),
    charge: yuan(row.cents),
    // Both cover and material have shows and clicks; the reader chooses which pair to use.
    show: row.impressions,
    aclick: row.impressions,
    photo_click: row.clicks,
    bclick: row.clicks,
  };
}
