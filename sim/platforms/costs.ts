import { optionalWholeParameter, Refusal } from "./call.ts";

/** The cost of an ad on a day. */
export type CostRow = {
  day: string;
  account: string;
  planId: string;
  planName: string;
  adId: string;
  adName: string;
  /** The creative that the row is about; without one, the report of creatives leaves the row out. */
  creativeId?: string;
  creativeName?: string;
  /** The hour that the row is about; without one, reports by the hour leave the row out. */
  hour?: number;
  impressions: number;
  clicks: number;
  cents: number;
  /** Whether the platform runs the ad in a managed campaign, which some reports leave out. */
  isManaged?: boolean;
};

export type CostOptions = {
  /** Read for each call, so that a changed row is served as a correction. */
  costs?: CostRow[];
  /** Accounts that the token may see beside those with costs. */
  accounts?: readonly string[];
  accountName?: (account: string) => string;
  /** The most rows per page, whatever size is requested. */
  pageRows?: number;
};

export class CostBook {
  readonly rows: CostRow[];
  readonly accountName: (account: string) => string;
  readonly pageRows: number;
  readonly #accounts: readonly string[];

  constructor({ costs = [], accounts = [], accountName = (id) => `Account ${id}`, pageRows = Infinity }: CostOptions) {
    this.rows = costs;
    this.#accounts = accounts;
    this.accountName = accountName;
    this.pageRows = pageRows;
  }

  accounts(): string[] {
    return [...new Set([...this.#accounts, ...this.rows.map((row) => row.account)])];
  }

  assertAccount(account: string, code?: number): void {
    if (!this.#accounts.includes(account) && !this.rows.some((row) => row.account === account))
      throw new Refusal(`account ${account} is not authorised`, code);
  }

  /** Both days included. */
  between(account: string, { firstDay, lastDay }: { firstDay: string; lastDay: string }): CostRow[] {
    return this.rows.filter((row) => row.account === account && row.day >= firstDay && row.day <= lastDay);
  }

  plans(account: string, ids?: ReadonlySet<string>): CostRow[] {
    return this.#latest(account, { idOf: (row) => row.planId, ids });
  }

  ads(account: string, ids?: ReadonlySet<string>): CostRow[] {
    return this.#latest(account, { idOf: (row) => row.adId, ids });
  }

  creatives(account: string, ids?: ReadonlySet<string>): CostRow[] {
    return this.#latest(account, { idOf: (row) => row.creativeId ?? "", ids }).filter(
      ({ creativeId }) => creativeId !== undefined,
    );
  }

  /** A request by ids is answered in one page: a filter holds no more ids than a page has rows. */
  pageRowsOf(ids: ReadonlySet<string> | undefined): number {
    return ids ? Number.POSITIVE_INFINITY : this.pageRows;
  }

  #latest(
    account: string,
    { idOf, ids }: { idOf: (row: CostRow) => string; ids: ReadonlySet<string> | undefined },
  ): CostRow[] {
    const rows = this.rows.filter((row) => row.account === account && (ids?.has(idOf(row)) ?? true));
    return [...new Map(rows.map((row) => [idOf(row), row])).values()];
  }
}

/** Adds up rows with the same key, in the order of their first appearance. */
export function sumBy(rows: readonly CostRow[], keyOf: (row: CostRow) => string): CostRow[] {
  const sums = new Map<string, CostRow>();
  for (const row of rows) {
    const sum = sums.get(keyOf(row));
    if (sum === undefined) {
      sums.set(keyOf(row), { ...row });
      continue;
    }
    sum.impressions += row.impressions;
    sum.clicks += row.clicks;
    sum.cents += row.cents;
  }
  return [...sums.values()];
}

export type Page<Item> = { items: Item[]; page: number; pageSize: number; total: number; pages: number };

export function pageOf<Item>(
  items: readonly Item[],
  { page, pageSize, pageRows }: { page: number; pageSize: number; pageRows: number },
): Page<Item> {
  const size = Math.min(pageSize, pageRows);
  return {
    items: items.slice((page - 1) * size, page * size),
    page,
    pageSize: size,
    total: items.length,
    pages: Math.ceil(items.length / size),
  };
}

export type PageLimits = {
  sizeMax: number;
  pageMax?: number;
  /** The last row that can be reached, whatever the size of the pages. */
  rowsMax?: number;
  pageRows: number;
};

/** The page that a query asks for. */
export function pageAsked<Item>(
  query: URLSearchParams,
  { items, sizeMax, pageMax, rowsMax, pageRows }: PageLimits & { items: readonly Item[] },
): Page<Item> {
  const pages = { min: 1, ...(pageMax === undefined ? {} : { max: pageMax }) };
  const page = optionalWholeParameter(query, "page", pages) ?? 1;
  const pageSize = optionalWholeParameter(query, "page_size", { min: 1, max: sizeMax }) ?? 10;
  if (rowsMax !== undefined && page * pageSize > rowsMax) throw new Refusal(`page × page_size is over ${rowsMax}`);
  return pageOf(items, { page, pageSize, pageRows });
}

/** Checks a range of days, both ends included, against a maximum length. */
export function assertDays({ firstDay, lastDay, daysMax }: { firstDay: unknown; lastDay: unknown; daysMax: number }): {
  firstDay: string;
  lastDay: string;
} {
  const first = dayMs(firstDay);
  const last = dayMs(lastDay);
  if (last < first) throw new Refusal("the last day is before the first");
  if ((last - first) / 86_400_000 + 1 > daysMax) throw new Refusal(`more than ${daysMax} days`);
  return { firstDay: firstDay as string, lastDay: lastDay as string };
}

const SHANGHAI_MS = 8 * 3_600_000;

/** The day in the platforms' own time zone, a number of days before now. */
export function dayBefore(nowMs: number, days: number): string {
  return new Date(nowMs + SHANGHAI_MS - days * 86_400_000).toISOString().slice(0, 10);
}

/** Refuses days further back than a number of days, today being the first of them. */
export function assertReach(
  { firstDay }: { firstDay: string },
  { nowMs, days }: { nowMs: number; days: number },
): void {
  if (firstDay < dayBefore(nowMs, days - 1)) throw new Refusal(`${firstDay} is more than ${days} days back`);
}

function dayMs(day: unknown): number {
  const ms = typeof day === "string" && /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms)) throw new Refusal(`${String(day)} is not a day`);
  return ms;
}

const ID_MARK = "#id:";

/** An id that the platform writes as a number of any length: JSON.stringify would lose its last digits. */
export const numberId = (id: string): string => (/^[1-9]\d*$/.test(id) ? ID_MARK + id : id);

/** The JSON of an answer in which `numberId` was used. */
export function withNumberIds(json: string): string {
  return json.replace(/"#id:(\d+)"/g, "$1");
}

export const yuan = (cents: number): number => cents / 100;
