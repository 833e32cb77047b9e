import { hasUnnamedAdvertisers, shownAdvertiser } from "../../db/ad-account.ts";
import { type Executor, joined, literal, type Sql, sql } from "../../db/engine/sql.ts";
import { shownPlatform } from "../../db/user-dimension.ts";
import { ApiError } from "../../errors.ts";

/** A field to sort by; 1 means descending. */
export type SortBy = { field: string; sort: 0 | 1 };

/** The sortable fields of a list, each with the expressions that make its order. */
export type Sorts = Readonly<Record<string, readonly Sql[]>>;

/** Day first, then instant, as in the index. The order is the same: later instants are never on earlier days. */
export const REGISTRATION = [sql`u.registered_day`, sql`u.registered_at_ms`];

/** The characters of an open id that its index has. Real ones are shorter. */
const OPEN_ID_START = 64;

/**
 * Sortable fields of both users and orders. Texts sort by code point, so that the order is the same on every machine.
 */
export const IDENTITY_SORTS: Sorts = {
  CreateTime: REGISTRATION,
  ClientID: [sql`u.client_id`],
  AdPlatform: [sql`(${shownPlatform}) collate "C"`],
  Channel: [sql`u.channel collate "C"`],
  Version: [sql`u.version`],
  TurboPromotedObjectID: [sql`u.turbo_promoted_object_id collate "C"`],
  // The index has the start, because a client may send an id of any length.
  WXOpenID: [sql`left(u.wx_openid, ${literal(OPEN_ID_START)}) collate "C"`, sql`u.wx_openid collate "C"`],
  AdvertiserID: [sql`(${shownAdvertiser}) collate "C"`],
  AdAid: [sql`u.aid collate "C"`],
};

/** Fields whose first expression an index of users is sorted by. */
const INDEXED = new Set(["CreateTime", "Channel", "Version", "TurboPromotedObjectID", "WXOpenID", "AdAid"]);

/** The account as the user's launch names it. */
const NAMED_ADVERTISER: Sorts = { AdvertiserID: [sql`u.advertiser_id collate "C"`] };

/** Whether rows that have the same `value` of the field's first expression are equal by the others, too. */
export function isWhole(field: string, value: string | number): boolean {
  return field === "WXOpenID" && String(value).length < OPEN_ID_START;
}

/** The fields as an index of users is sorted by the first of the sorts; undefined where none is. */
export async function indexedFields(
  executor: Executor,
  { appId, sorts, fields }: { appId: number; sorts: readonly SortBy[]; fields: Sorts },
): Promise<Sorts | undefined> {
  const field = sorts[0]?.field ?? "";
  if (INDEXED.has(field)) return fields;
  if (field !== "AdvertiserID" || (await hasUnnamedAdvertisers(executor, appId))) return undefined;
  return { ...fields, ...NAMED_ADVERTISER };
}

/**
 * The sorts of a request. A field that is named again changes nothing and is left out: a request may name thousands, and
 * a statement of them would hold up everybody else.
 */
export function readSorts(list: readonly SortBy[], sorts: Sorts): SortBy[] {
  const byField = new Map<string, SortBy>();
  for (const one of list) if (!byField.has(one.field)) byField.set(one.field, one);
  assertSortable([...byField.values()], sorts);
  return [...byField.values()];
}

/** Refuses a field that the list cannot be sorted by. */
function assertSortable(list: readonly SortBy[], sorts: Sorts): void {
  const unknown = list.find(({ field }) => !Object.hasOwn(sorts, field));
  if (!unknown) return;
  const named = JSON.stringify(unknown.field.slice(0, 60));
  throw new ApiError(
    "badParameter",
    `order_by_list: ${named} is not sortable; sortable fields are ${Object.keys(sorts).join(", ")}.`,
  );
}

/** The requested sort keys in their order, then the unique key, so that pages never overlap. */
export function orderOf(list: readonly SortBy[], sorts: Sorts, last: readonly Sql[]): Sql {
  assertSortable(list, sorts);
  const asked = list.flatMap(({ field, sort }) =>
    sort === 1 ? sorts[field]!.map((expression) => sql`${expression} desc`) : sorts[field]!,
  );
  return joined(asked.length > 0 ? [...asked, last.at(-1)!] : last, sql`, `);
}
