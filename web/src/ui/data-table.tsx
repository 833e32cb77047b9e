import type { ReactNode } from "react";

export type Sort = { column: string; direction: "asc" | "desc" };

export type Column<Row> = {
  name: string;
  title: ReactNode;
  kind?: "text" | "number";
  cell: (row: Row) => ReactNode;
  /** The column's total, shown below the rows. */
  total?: ReactNode;
  sortable?: boolean;
};

type DataTableProps<Row> = {
  /** The description for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row, index: number) => string | number;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  empty?: ReactNode;
};

const ARIA_SORT = { asc: "ascending", desc: "descending" } as const;

export function DataTable<Row>({ label, columns, rows, keyOf, sort, onSort, empty }: DataTableProps<Row>) {
  if (rows.length === 0 && empty) return <div className="table-frame">{empty}</div>;
  const hasTotals = columns.some(({ total }) => total !== undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard
    <section className="table-frame" aria-label={label} tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <HeadCell key={column.name} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)}>
              {columns.map(({ name, kind, cell }) => (
                <td key={name} className={kind === "number" ? "number" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {hasTotals && (
          <tfoot>
            <tr>
              {columns.map(({ name, kind, total }) => (
                <td key={name} className={kind === "number" ? "number" : undefined}>
                  {total}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

type HeadCellProps<Row> = {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
};

function HeadCell<Row>({ column: { name, title, kind, sortable }, sort, onSort }: HeadCellProps<Row>) {
  const direction = sort?.column === name ? sort.direction : undefined;
  const className = kind === "number" ? "number" : undefined;
  if (!sortable || !onSort) {
    return (
      <th scope="col" className={className}>
        {title}
      </th>
    );
  }
  // Numbers sort from the highest first, names from A.
  const first = kind === "number" ? "desc" : "asc";
  const next = direction === undefined ? first : direction === "asc" ? "desc" : "asc";
  return (
    <th scope="col" className={className} aria-sort={direction ? ARIA_SORT[direction] : "none"}>
      <button type="button" className="sort" onClick={() => onSort({ column: name, direction: next })}>
        {title}
      </button>
    </th>
  );
}
