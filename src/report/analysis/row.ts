/**
 * A row as DuckDB gives it. Drivers hand over large integers and decimals as texts or as bigints: both are read here.
 */
export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement on the views of an app. */
export type RunSql = (statement: string) => Promise<readonly Row[]>;

export function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

export function textOr(value: unknown, fallback: string): string {
  return value === null || value === undefined ? fallback : String(value);
}
