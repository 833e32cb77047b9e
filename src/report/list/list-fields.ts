import type { ListFields, ListName } from "../../contract/admin/admin-list.ts";
import {
  type Filter,
  NUMBER_OPERATORS,
  ORDER_FILTERS,
  POSTBACK_FILTERS,
  STATUSES,
  USER_FILTERS,
} from "../../contract/report/list-filter.ts";
import {
  type Columns,
  DEVICE_COLUMNS,
  ORDER_COLUMNS,
  REFUND_COLUMNS,
  RETURN_COLUMNS,
  USER_COLUMNS,
} from "../../contract/report/list-record.ts";
import type { PropertyMeta } from "../../db/metadata.ts";
import { PROPERTY_OPERATORS } from "../../domain/event/property-test.ts";
import { POSTBACK_EVENT_TYPES } from "../../domain/postback/postback.ts";
import { LIMITS } from "../../limits.ts";
import { ORDER_SORTS } from "./order-pages.ts";
import { USER_SORTS } from "./user-pages.ts";

const LISTS = {
  orders: {
    filters: ORDER_FILTERS,
    columns: [["", { ...ORDER_COLUMNS, ...REFUND_COLUMNS }]],
    sorts: ORDER_SORTS,
    scopes: ["user", "event"],
  },
  users: {
    filters: POSTBACK_FILTERS,
    columns: [
      ["", USER_COLUMNS],
      ["device_info.", DEVICE_COLUMNS],
      ["re_attribute_info.", RETURN_COLUMNS],
    ],
    sorts: USER_SORTS,
    scopes: ["user"],
  },
} satisfies Record<
  ListName,
  { filters: Record<string, Filter>; columns: [prefix: string, Columns][]; sorts: object; scopes: string[] }
>;

/** Filters, sorts and columns of a list, from the same tables as the lists themselves. */
export function fieldsOfList(
  list: ListName,
  known: { platforms: readonly string[]; properties: readonly PropertyMeta[] },
): ListFields {
  const { filters, columns, sorts, scopes } = LISTS[list];
  return {
    user_filters: shownFilters(USER_FILTERS, { ad_platform_list: known.platforms }),
    event_filters: shownFilters(filters, {}),
    properties: conditionFields(
      columns.map(([, fields]) => fields),
      known.properties.filter(({ scope }) => scopes.some((name) => name === scope)),
    ),
    operators: [...PROPERTY_OPERATORS],
    columns: columns.flatMap(([prefix, fields]) =>
      Object.entries(fields).map(([name, cell]) => ({
        name: prefix + name,
        cell,
        sortable: prefix === "" && Object.hasOwn(sorts, name),
      })),
    ),
    page_size_max: LIMITS.pageSize,
    rows_max: LIMITS.listRows,
  };
}

function shownFilters(
  filters: Readonly<Record<string, Filter>>,
  choices: Readonly<Record<string, readonly string[]>>,
): ListFields["user_filters"] {
  return Object.entries(filters).map(([name, { form, description }]) => ({
    name,
    form,
    description,
    choices: [...(choices[name] ?? CHOICES[form] ?? [])],
  }));
}

const CHOICES: Partial<Record<Filter["form"], readonly string[]>> = {
  cents: NUMBER_OPERATORS,
  status: STATUSES,
  postback: POSTBACK_EVENT_TYPES,
};

/** The fields of the records, and every property that the app has sent. Preset properties are named without `$`. */
function conditionFields(columns: readonly Columns[], properties: readonly PropertyMeta[]): ListFields["properties"] {
  const types = new Map<string, string>();
  for (const [field, cell] of columns.flatMap((fields) => Object.entries(fields))) {
    if (field.includes("$")) types.set(field, TYPES[cell] ?? "any");
  }
  for (const { scope, name, type } of properties) {
    const field = `${scope}$${name.replace("$", "")}`;
    if (!types.has(field) || type !== "any") types.set(field, type);
  }
  return [...types].sort().map(([field, type]) => ({ field, type }));
}

/** The metadata's name for each type of cell. */
const TYPES: Readonly<Record<string, string>> = {
  text: "string",
  number: "number",
  cents: "number",
  money: "number",
  time: "string",
  flag: "bool",
};
