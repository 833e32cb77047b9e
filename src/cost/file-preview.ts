import type { Readable } from "node:stream";
import type pg from "pg";
import { type AdObject, type Advertiser, findAdObjects, findAdvertisers } from "../db/ad-names.ts";
import { type Cost, findCosts } from "../db/cost.ts";
import { inTransaction, preferIndexes } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import { type AppRebate, loadRebates } from "../db/rebate.ts";
import { overlapOf, overlapText, shownRebate } from "../domain/rebate.ts";
import { type CsvShape, FileError, type LinedRow, type Problem, scanCsv } from "./csv-file.ts";
import {
  AD_OBJECT_COLUMNS,
  AD_OBJECTS,
  ADVERTISER_COLUMNS,
  ADVERTISERS,
  adKeyOf,
  COST_COLUMNS,
  costsOf,
  REBATE_COLUMNS,
  rebatesOf,
} from "./file-import.ts";

const ROWS_SHOWN_MAX = 50;
const PROBLEMS_SHOWN_MAX = 200;
const SUMS_SHOWN_MAX = 400;

/** The values of a row by column. */
export type ShownValues = Readonly<Record<string, string | number>>;

/** `replaces`: a different row of the same key is stored. `same`: an equal row is stored. */
export type RowState = "new" | "replaces" | "same";

export type PreviewedRow = { line: number; state: RowState; values: ShownValues; before: ShownValues | null };

/** What the import of a file would do. */
export type FilePreview = {
  columns: readonly string[];
  rows: Record<RowState, number>;
  first_rows: PreviewedRow[];
  first_replacing: PreviewedRow[];
  problems: Problem[];
  problem_count: number;
};

/** The costs of a day at a platform. `cost_before` is the stored cost of the same ads, which is replaced. */
export type DaySum = {
  date: string;
  ad_platform: string;
  rows: number;
  impressions: number;
  clicks: number;
  cost: number;
  cost_before: number;
};

export type CostPreview = FilePreview & {
  sums: DaySum[];
  sum_count: number;
  total: Omit<DaySum, "date" | "ad_platform">;
};

export async function previewCosts(pool: pg.Pool, file: Readable, appId: number): Promise<CostPreview> {
  const sums = new CostSums();
  const preview = await previewed(pool, file, costsOf(appId), {
    columns: COST_COLUMNS,
    find: async (tx, rows) => {
      const found = await findCosts(tx, rows);
      sums.addStored(found);
      return found;
    },
    replaced: replacedCosts,
    shown: shownCost,
    note: (row) => sums.add(row),
  });
  return { ...preview, ...sums.told() };
}

export function previewAdvertisers(pool: pg.Pool, file: Readable): Promise<FilePreview> {
  const kind = { columns: ADVERTISER_COLUMNS, find: findAdvertisers, shown: shownAdvertiser };
  return previewed(pool, file, ADVERTISERS, kind);
}

export function previewAdObjects(pool: pg.Pool, file: Readable): Promise<FilePreview> {
  const kind = { columns: AD_OBJECT_COLUMNS, find: findAdObjects, shown: shownAdObject };
  return previewed(pool, file, AD_OBJECTS, kind);
}

/** Names an overlap with stored rebates too: the import would refuse it. */
export async function previewRebates(pool: pg.Pool, file: Readable, appId: number): Promise<FilePreview> {
  const given = new Map<string, AppRebate>();
  const keyOf = ({ adPlatform, advertiserId, fromDay }: AppRebate) =>
    JSON.stringify([adPlatform, advertiserId, fromDay]);
  return previewed(pool, file, rebatesOf(appId), {
    columns: REBATE_COLUMNS,
    find: (tx) => loadRebates(tx, appId),
    shown: shownRebate,
    note: (rebate) => given.set(keyOf(rebate), rebate),
    check: async (tx) => {
      const kept = (await loadRebates(tx, appId)).filter((rebate) => !given.has(keyOf(rebate)));
      const overlap = overlapOf([...kept, ...given.values()]);
      return overlap ? [{ line: 0, problem: overlapText(overlap) }] : [];
    },
  });
}

type Kind<Row> = {
  columns: readonly string[];
  /** Finds the stored rows that are replaced. */
  find: (executor: Executor, rows: readonly Row[]) => Promise<Row[]>;
  /** Which of those found a row replaces; the one of the same key unless given. */
  replaced?: (rows: readonly Row[], found: readonly Row[]) => (row: Row) => Row | undefined;
  shown: (row: Row) => ShownValues;
  note?: (row: Row) => void;
  /** What is wrong with the rows as a whole. */
  check?: (tx: Executor) => Promise<Problem[]>;
};

/** Reads the file to its end by the rules of the import, against one snapshot of the tables. */
export async function previewed<Column extends string, Row>(
  pool: pg.Pool,
  file: Readable,
  shape: CsvShape<Column, Row>,
  kind: Kind<Row>,
): Promise<FilePreview> {
  const preview: FilePreview = {
    columns: kind.columns,
    rows: { new: 0, replaces: 0, same: 0 },
    first_rows: [],
    first_replacing: [],
    problems: [],
    problem_count: 0,
  };
  const refuse = (problem: Problem) => {
    preview.problem_count += 1;
    if (preview.problems.length < PROBLEMS_SHOWN_MAX) preview.problems.push(problem);
    return "go_on" as const;
  };
  const keyOf = (row: Row) => JSON.stringify(shape.key(row));
  const sameKey = (_rows: readonly Row[], found: readonly Row[]) => {
    const known = new Map(found.map((row) => [keyOf(row), row]));
    return (row: Row) => known.get(keyOf(row));
  };
  const compare = async (tx: Executor, lined: LinedRow<Row>[]) => {
    const rows = lined.map(({ row }) => row);
    const beforeOf = (kind.replaced ?? sameKey)(rows, await kind.find(tx, rows));
    for (const { line, row } of lined) addRow(preview, kind, { line, row, before: beforeOf(row) });
  };
  const scan = async (tx: pg.PoolClient) => {
    await preferIndexes(tx);
    await scanCsv(file, shape, { take: (rows) => compare(tx, rows), refuse });
    for (const problem of (await kind.check?.(tx)) ?? []) refuse(problem);
  };
  await inTransaction(pool, scan, "snapshot").catch((error: unknown) => {
    if (!(error instanceof FileError)) throw error;
    for (const problem of error.problems) refuse(problem);
  });
  return preview;
}

function addRow<Row>(
  { rows, first_rows, first_replacing }: FilePreview,
  { shown, note }: Kind<Row>,
  { line, row, before }: { line: number; row: Row; before: Row | undefined },
): void {
  const [values, valuesBefore] = [shown(row), before === undefined ? null : shown(before)];
  const isSame = JSON.stringify(values) === JSON.stringify(valuesBefore);
  const state: RowState = valuesBefore === null ? "new" : isSame ? "same" : "replaces";
  const one: PreviewedRow = { line, state, values, before: valuesBefore };
  rows[state] += 1;
  if (first_rows.length < ROWS_SHOWN_MAX) first_rows.push(one);
  if (state === "replaces" && first_replacing.length < ROWS_SHOWN_MAX) first_replacing.push(one);
  note?.(row);
}

/**
 * A row of costs replaces the stored one of its creative, else what is stored of its ad under creatives that the file
 * does not name.
 */
function replacedCosts(rows: readonly Cost[], found: readonly Cost[]): (row: Cost) => Cost | undefined {
  const keyOf = (cost: Cost) => JSON.stringify([adKeyOf(cost), cost.cid]);
  const [named, known, others] = [new Set(rows.map(keyOf)), new Map<string, Cost>(), new Map<string, Cost>()];
  for (const cost of found) {
    known.set(keyOf(cost), cost);
    if (named.has(keyOf(cost))) continue;
    const sum = others.get(adKeyOf(cost));
    others.set(adKeyOf(cost), sum ? together(sum, cost) : cost);
  }
  return (row) => known.get(keyOf(row)) ?? others.get(adKeyOf(row));
}

function together(one: Cost, other: Cost): Cost {
  return {
    ...one,
    cid: `${one.cid}, ${other.cid}`,
    impressions: one.impressions + other.impressions,
    clicks: one.clicks + other.clicks,
    costE4: one.costE4 + other.costE4,
  };
}

type SumE4 = Omit<DaySum, "cost" | "cost_before"> & { costE4: number; beforeE4: number };

class CostSums {
  readonly #sums = new Map<string, SumE4>();
  readonly #total = newSum({ date: "", ad_platform: "" });
  readonly #stored = new Set<string>();

  add(cost: Cost): void {
    for (const sum of this.#sumsOf(cost)) {
      sum.rows += 1;
      sum.impressions += cost.impressions;
      sum.clicks += cost.clicks;
      sum.costE4 += cost.costE4;
    }
  }

  /** Adds stored costs, each once: the rows of an ad may come at several times. */
  addStored(found: readonly Cost[]): void {
    for (const cost of found) {
      const key = JSON.stringify([adKeyOf(cost), cost.cid]);
      if (this.#stored.has(key)) continue;
      this.#stored.add(key);
      for (const sum of this.#sumsOf(cost)) sum.beforeE4 += cost.costE4;
    }
  }

  #sumsOf({ day, adPlatform }: Cost): SumE4[] {
    const key = `${day} ${adPlatform}`;
    const own = this.#sums.get(key) ?? newSum({ date: day, ad_platform: adPlatform });
    this.#sums.set(key, own);
    return [own, this.#total];
  }

  /** The sums, newest days first. */
  told(): Pick<CostPreview, "sums" | "sum_count" | "total"> {
    const sorted = [...this.#sums].sort(([left], [right]) => (left < right ? 1 : -1)).map(([, sum]) => shownSum(sum));
    const { date: _day, ad_platform: _platform, ...total } = shownSum(this.#total);
    return { sums: sorted.slice(0, SUMS_SHOWN_MAX), sum_count: sorted.length, total };
  }
}

function newSum(of: { date: string; ad_platform: string }): SumE4 {
  return { ...of, rows: 0, impressions: 0, clicks: 0, costE4: 0, beforeE4: 0 };
}

function shownSum({ costE4, beforeE4, ...sum }: SumE4): DaySum {
  return { ...sum, cost: costE4 / 10_000, cost_before: beforeE4 / 10_000 };
}

function shownCost(cost: Cost): Record<(typeof COST_COLUMNS)[number], string | number> {
  return {
    date: cost.day,
    ad_platform: cost.adPlatform,
    advertiser_id: cost.advertiserId,
    gid: cost.gid,
    aid: cost.aid,
    creative: cost.cid,
    csite: cost.csite,
    channel: cost.channel,
    os_platform: cost.osPlatform,
    turbo_promoted_object_id: cost.campaignId,
    impressions: cost.impressions,
    clicks: cost.clicks,
    cost: cost.costE4 / 10_000,
  };
}

function shownAdvertiser({ adPlatform, advertiserId, name, status, remark, operator, dept }: Advertiser): ShownValues {
  return { ad_platform: adPlatform, advertiser_id: advertiserId, name, status, remark, operator, dept };
}

function shownAdObject({ adPlatform, level, objectId, name, status }: AdObject): ShownValues {
  return { ad_platform: adPlatform, level, id: objectId, name, status };
}
