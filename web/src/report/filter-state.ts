import type { ConsoleReportBody } from "../../../src/contract/admin/console-report.ts";
import { listOf, listText } from "./value-list.ts";

/** The filters of a report, by their names in the interface. Each is a list in the address. */
export const FILTER_NAMES = [
  ...(["ad_platform", "channel", "os_platform", "turbo_promoted_object_id", "advertiser_id"] as const),
  ...(["gid", "aid", "creative", "csite", "version"] as const),
];
export type FilterName = (typeof FILTER_NAMES)[number];
export type FilterState = Record<FilterName, string>;

export const NO_FILTER = Object.fromEntries(FILTER_NAMES.map((name) => [name, ""])) as FilterState;

export type Filtering = NonNullable<ConsoleReportBody["filtering"]>;

/** Only the filters that have values. */
export function filteringOf(state: FilterState): Filtering {
  const lists = FILTER_NAMES.map((name) => [name, listOf(state[name])] as const).filter(([, list]) => list.length > 0);
  return Object.fromEntries(
    lists.map(([name, list]) => [`${name}_list`, name === "version" ? list.map(Number) : list]),
  );
}

/** The filters as parameters of an address. */
export function filterParameters(filtering: Filtering): Partial<FilterState> {
  const lists = FILTER_NAMES.map((name) => [name, filtering[`${name}_list`] ?? []] as const);
  return Object.fromEntries(
    lists.filter(([, list]) => list.length > 0).map(([name, list]) => [name, listText(list.map(String))]),
  );
}
