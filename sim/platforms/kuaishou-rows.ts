import { type CostBook, type CostRow, numberId, sumBy, yuan } from "./costs.ts";

/** An account of which an authorised caller asks. */
export type Asked = { book: CostBook; account: string; nowMs: number };

export type Level = "account" | "campaign" | "unit" | "creative";

const ID_OF: Readonly<Record<Level, (row: CostRow) => string>> = {
  account: () => "",
  campaign: ({ planId }) => planId,
  unit: ({ adId }) => adId,
  creative: ({ creativeId }) => creativeId ?? "",
};

/**
 * Certain: reports by unit and by creative leave out managed campaigns (省心投); those by campaign and by account hold
 * them. The report by creative also leaves out what Kuaishou puts together itself.
 */
export function levelRows(rows: readonly CostRow[], level: Level): CostRow[] {
  const isFine = level === "unit" || level === "creative";
  const held = rows.filter(
    ({ isManaged, creativeId }) =>
      !(isFine && isManaged === true) && !(level === "creative" && creativeId === undefined),
  );
  return sumBy(held, (row) => `${row.day} ${ID_OF[level](row)}`);
}

/** A row as both kinds of report show it. Money is in yuan (certain). */
export function shownRow(row: CostRow, level: Level): Record<string, string | number> {
  return {
    stat_date: row.day,
    ...(level === "account" ? {} : { campaign_id: numberId(row.planId), campaign_name: row.planName }),
    ...(level === "unit" || level === "creative" ? { unit_id: numberId(row.adId), unit_name: row.adName } : {}),
    ...(level === "creative"
      ? { creative_id: numberId(row.creativeId ?? ""), creative_name: row.creativeName ?? "" }
      : {}),
    charge: yuan(row.cents),
    // Both cover and material have shows and clicks; the reader chooses which pair to use.
    show: row.impressions,
    aclick: row.impressions,
    photo_click: row.clicks,
    bclick: row.clicks,
  };
}
