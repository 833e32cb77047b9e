import { keyOf } from "./column-name.ts";

type Row = Record<string, unknown>;
/** Makes a row's object from its values. */
export type RowMaker = (values: readonly unknown[]) => Row;

/** Reports select columns in many combinations, so the makers kept are limited; a forgotten one is made again. */
const MAKERS_MAX = 1_000;
const makers = new Map<string, RowMaker>();

/**
 * The maker for rows with these columns; `touched_at_ms` becomes the key `touchedAtMs`, so that no statement needs an
 * alias for it. What a column contains, such as the keys of a jsonb document, stays as it is.
 *
 * The maker is compiled, as the server's JSON validators are: an object written as one literal is quicker to make than
 * the driver's own rows, which are filled key by key. Measured with 1,000 rows: 0.8 µs a row of 15 columns instead of
 * 1.2, and 3.3 µs a row of 50 instead of 5.4. Only names of columns, written as JSON texts, go into the code.
 */
export function rowMaker(columns: readonly string[]): RowMaker {
  const shape = columns.join("\n");
  const known = makers.get(shape);
  if (known) return known;
  const pairs = columns.map((column, index) => `[${JSON.stringify(keyOf(column))}]: values[${index}]`);
  const maker = new Function("values", `return { ${pairs.join(", ")} };`) as RowMaker;
  if (makers.size >= MAKERS_MAX) makers.clear();
  makers.set(shape, maker);
  return maker;
}
