import { allOf, type Executor, query, type Sql, sql } from "../../db/engine/sql.ts";
import type { Window } from "./list-request.ts";
import { IDENTITY_SORTS, orderOf, REGISTRATION, type SortBy, type Sorts } from "./list-sort.ts";
import { type Groups, loadUsersByDay, loadUsersByPlatform, placeOf } from "./list-total.ts";

export const USER_SORTS: Sorts = {
  ...IDENTITY_SORTS,
  LatestLoginDay: [sql`coalesce(u.latest_login_day, '-infinity')`],
  user$pay_amount_sum: [sql`u.pay_cents`],
  user$pay_count: [sql`u.pay_count`],
  user$pay_max_amount: [sql`u.pay_max_cents`],
};

/** Users with a figure above 0, without one, and below 0. */
type Split = { above: Sql; none: Sql; below?: Sql };

/** The figures of payments, which most users do not have: those who do come from an index of their own. */
const PAYMENT_SORTS: Readonly<Record<string, Split>> = {
  user$pay_amount_sum: { above: sql`u.pay_cents > 0`, none: sql`u.pay_cents = 0`, below: sql`u.pay_cents < 0` },
  user$pay_count: { above: sql`u.pay_count > 0`, none: sql`u.pay_count = 0` },
  user$pay_max_amount: { above: sql`u.pay_count > 0 and u.pay_max_cents > 0`, none: sql`u.pay_max_cents = 0` },
};

const BY_CLIENT = [sql`u.client_id`];
const BY_REGISTRATION = [...REGISTRATION, ...BY_CLIENT];

/** Above this many, a list is sorted by platform as a whole. */
const PLATFORMS_MAX = 50;

/** The users that `where` selects, among those of the groups: all of them, or only some. */
export type SortedUsers = { groups: Groups; holds: "all" | "some"; where: Sql; sorts: readonly SortBy[] };

export type ClientKey = { clientId: string };

/** Part of a list, which is read in its own order. `users`: how many it holds, where that is known. */
type Part = { where: Sql; order: Sql; users?: number };

/** The keys of a page. */
export async function readUserPage(executor: Executor, asked: SortedUsers, window: Window): Promise<ClientKey[]> {
  const { where, sorts } = asked;
  const order = orderOf(sorts, USER_SORTS, BY_REGISTRATION);
  const [first] = sorts;
  if (!first || first.field === "CreateTime") return readByDay(executor, { ...asked, order }, window);
  if (first.field === "AdPlatform") return readParts(executor, await platformParts(executor, asked), window);
  return readParts(executor, paymentParts(asked) ?? [{ where, order }], window);
}

/** Begins on the day on which the page stands, so that a page far behind costs no more than the first one. */
async function readByDay(
  executor: Executor,
  { groups, holds, where, sorts, order }: SortedUsers & { order: Sql },
  { limit, offset }: Window,
): Promise<ClientKey[]> {
  if (holds === "some" || offset === 0) return readParts(executor, [{ where, order }], { limit, offset });
  const isFalling = sorts[0]?.sort === 1;
  const days = await loadUsersByDay(executor, groups);
  const place = placeOf(isFalling ? days.reverse() : days, offset);
  if (!place) return [];
  const isThere = isFalling ? sql`u.registered_day <= ${place.day}::date` : sql`u.registered_day >= ${place.day}::date`;
  return readParts(executor, [{ where: allOf([where, isThere]), order }], { limit, offset: place.offset });
}

/** A sort by a figure of payments, in up to three parts. */
function paymentParts({ where, sorts }: SortedUsers): Part[] | undefined {
  const [first, ...rest] = sorts;
  const figure = first && Object.hasOwn(PAYMENT_SORTS, first.field) ? PAYMENT_SORTS[first.field] : undefined;
  if (!first || !figure) return undefined;
  const { above, none, below } = figure;
  const order = orderOf(sorts, USER_SORTS, BY_REGISTRATION);
  const parts = [
    { where: allOf([where, above]), order },
    // By what is left: the database would sort by a figure that is 0 for all of them.
    { where: allOf([where, none]), order: orderOf(rest, USER_SORTS, BY_CLIENT) },
    ...(below ? [{ where: allOf([where, below]), order }] : []),
  ];
  return first.sort === 1 ? parts : parts.reverse();
}

/** A sort by platform, one platform after the other. */
async function platformParts(executor: Executor, { groups, holds, where, sorts }: SortedUsers): Promise<Part[]> {
  const [first, ...rest] = sorts;
  const platforms = await loadUsersByPlatform(executor, groups);
  if (platforms.length > PLATFORMS_MAX) return [{ where, order: orderOf(sorts, USER_SORTS, BY_REGISTRATION) }];
  const order = orderOf(rest, USER_SORTS, BY_CLIENT);
  const parts = platforms.map(({ adPlatform, users }) => ({
    where: allOf([where, sql`u.ad_platform = ${adPlatform}`]),
    order,
    ...(holds === "all" && { users }),
  }));
  return first?.sort === 1 ? parts.reverse() : parts;
}

/** Reads on in the next part when one has come to its end. */
async function readParts(executor: Executor, parts: readonly Part[], window: Window): Promise<ClientKey[]> {
  const keys: ClientKey[] = [];
  let { offset } = window;
  for (const part of parts) {
    const limit = window.limit - keys.length;
    if (limit === 0) break;
    if (part.users !== undefined && offset >= part.users) offset -= part.users;
    else {
      const found = await readPart(executor, part, { limit, offset });
      keys.push(...found);
      const isBehind = found.length === 0 && offset > 0 && part !== parts.at(-1);
      // Users may have come since the part was read.
      offset = isBehind ? Math.max(0, offset - (await countWhere(executor, part.where))) : 0;
    }
  }
  return keys;
}

async function readPart(executor: Executor, { where, order }: Part, { limit, offset }: Window): Promise<ClientKey[]> {
  return query<ClientKey>(
    executor,
    sql`select u.client_id from user_account u where ${where} order by ${order} limit ${limit} offset ${offset}`,
  );
}

async function countWhere(executor: Executor, where: Sql): Promise<number> {
  const [counted] = await query<{ users: number }>(
    executor,
    sql`select count(*) as users from user_account u where ${where}`,
  );
  return counted!.users;
}
