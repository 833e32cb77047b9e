import type { ListFields, ListName, OrdersBody } from "../../../../src/contract/admin/admin-list.ts";
import { segmentIdOf } from "../../analysis/segment.ts";
import type { Sort } from "../../ui/data-table.tsx";
import { useUrlState } from "../../url-state.ts";

export type FilterField = ListFields["user_filters"][number];
export type ListColumn = ListFields["columns"][number];
export type Condition = NonNullable<OrdersBody["property_condition"]>[number];

/** The value of an amount filter, as the interface takes it. */
export type CentsValue = { operator: "between" | "inner"; values: readonly number[] };
export type PostbackValue = { event_type: string; status: string };
export type FilterValue = string | readonly string[] | readonly number[] | CentsValue | PostbackValue;

/** All filters of a list. */
export type Filters = {
  user: Readonly<Record<string, FilterValue>>;
  event: Readonly<Record<string, FilterValue>>;
  conditions: readonly Condition[];
  /** The id of a saved segment, or empty. */
  segment: string;
};

export const NO_FILTERS: Filters = { user: {}, event: {}, conditions: [], segment: "" };

export function countOf({ user, event, conditions, segment }: Filters): number {
  return Object.keys(user).length + Object.keys(event).length + conditions.length + (segment === "" ? 0 : 1);
}

/** The filters as one text for the address, or an empty text when there are none. */
export function textOf(filters: Filters): string {
  const { segment, ...others } = filters;
  return countOf(filters) === 0 ? "" : JSON.stringify(segment === "" ? others : filters);
}

/** Parses the address leniently: what is not a filter is dropped, and the server says what is wrong with the rest. */
export function filtersOf(text: string): Filters {
  try {
    const { user = {}, event = {}, conditions = [], segment } = JSON.parse(text) as Partial<Filters>;
    const isFit = isPlain(user) && isPlain(event) && Array.isArray(conditions);
    return isFit ? { user, event, conditions, segment: segmentIdOf(segment) } : NO_FILTERS;
  } catch {
    return NO_FILTERS;
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const isListOf = (type: "string" | "number") => (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === type);

const SHAPES: Readonly<Record<FilterField["form"], (value: unknown) => boolean>> = {
  dates: isListOf("string"),
  times: isListOf("string"),
  texts: isListOf("string"),
  counts: isListOf("string"),
  numbers: isListOf("number"),
  status: (value) => typeof value === "string",
  cents: (value) => isPlain(value) && typeof value.operator === "string" && isListOf("number")(value.values),
  postback: (value) => isPlain(value) && typeof value.event_type === "string" && typeof value.status === "string",
};

/** The filters from the address that this list has and can show. */
export function fittingFilters(filters: Filters, fields: ListFields): Filters {
  const fitting = (values: Filters["user"], known: readonly FilterField[]) =>
    Object.fromEntries(
      known.flatMap(({ name, form }) => {
        const value = values[name];
        return value !== undefined && SHAPES[form](value) ? [[name, value]] : [];
      }),
    );
  return {
    user: fitting(filters.user, fields.user_filters),
    event: fitting(filters.event, fields.event_filters),
    conditions: filters.conditions.filter((one) => isPlain(one) && fields.operators.includes(one.operator)),
    segment: filters.segment,
  };
}

/** The filters in the shape that the lists and the export take. */
export function filterBody({ user, event, conditions, segment }: Filters) {
  return {
    user_filtering: user,
    event_filtering: event,
    property_condition: conditions,
    ...(segment !== "" && { segment_filtering: { segment: Number(segment) } }),
  };
}

/** The address of a list with these filters applied. */
export function listAddress(list: ListName, appId: number, filters: Partial<Filters>): string {
  const query = new URLSearchParams({ app: String(appId), filters: textOf({ ...NO_FILTERS, ...filters }) });
  return `/${list}?${query}`;
}

export const PAGE_SIZES = [20, 50, 100, 200, 500] as const;

export type ListState = { filters: Filters; sort: Sort; page: number; pageSize: number };

/** The state of a list, kept in the address. Every change except of the page goes back to the first page. */
export function useListState(usual: Sort): [ListState, (changes: Partial<ListState>) => void] {
  const [state, change] = useUrlState({ filters: "", sort: sortText(usual), page: "1", size: "50" });
  const update = ({ filters, sort, page, pageSize }: Partial<ListState>) =>
    change({
      ...(filters && { filters: textOf(filters) }),
      ...(sort && { sort: sortText(sort) }),
      ...(pageSize && { size: String(pageSize) }),
      page: String(page ?? 1),
    });
  return [
    {
      filters: filtersOf(state.filters),
      sort: sortOf(state.sort) ?? usual,
      page: wholeOf(state.page) ?? 1,
      pageSize: wholeOf(state.size) ?? 50,
    },
    update,
  ];
}

function sortText({ column, direction }: Sort): string {
  return `${column}.${direction}`;
}

function sortOf(text: string): Sort | undefined {
  const [, column, direction] = /^(.+)\.(asc|desc)$/.exec(text) ?? [];
  return column && direction ? { column, direction: direction as Sort["direction"] } : undefined;
}

function wholeOf(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
