import { allOf, type Executor, type Sql, sql } from "../../db/engine/sql.ts";
import { cutAtEnd, type Part, readParts, type Source } from "./list-part.ts";
import type { Window } from "./list-request.ts";
import { IDENTITY_SORTS, indexedFields, orderOf, REGISTRATION, type SortBy, type Sorts } from "./list-sort.ts";
import { type Groups, loadByPlatform, loadUsersByDay, loadUsersByLogin, placeOf } from "./list-total.ts";

/** Who has never been active comes first. */
const NEVER = "-infinity";
const LOGIN = sql`coalesce(u.latest_login_day, '-infinity')`;

export const USER_SORTS: Sorts = {
  ...IDENTITY_SORTS,
  LatestLoginDay: [LOGIN],
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

/** The users that `where` selects, among those of the groups: all of them, or only some. */
export type SortedUsers = { groups: Groups; holds: "all" | "some"; where: Sql; sorts: readonly SortBy[] };

export type ClientKey = { clientId: string };

const USERS: Source = { keys: sql`u.client_id`, from: sql`user_account u` };

/** The keys of a page. */
export async function readUserPage(executor: Executor, asked: SortedUsers, window: Window): Promise<ClientKey[]> {
  const [first] = asked.sorts;
  if (!first || first.field === "CreateTime") return readByDay(executor, asked, window);
  return readParts(executor, USERS, await partsOf(executor, asked, window), window);
}

async function partsOf(executor: Executor, asked: SortedUsers, window: Window): Promise<Part[]> {
  const { groups, holds, where, sorts } = asked;
  if (sorts[0]?.field === "AdPlatform") return platformParts(executor, asked);
  if (sorts[0]?.field === "LatestLoginDay") return loginParts(executor, asked);
  // Another filter may leave so few users that finding them is all the work, which would be done twice.
  const fields = holds === "all" && (await indexedFields(executor, { appId: groups.appId, sorts, fields: USER_SORTS }));
  if (fields) return cutAtEnd(executor, { source: USERS, where, sorts, fields, unique: sql`u.client_id` }, window);
  return paymentParts(asked) ?? [wholeOf(asked)];
}

/** The list as one part. */
function wholeOf({ where, sorts }: SortedUsers): Part {
  return { where, order: orderOf(sorts, USER_SORTS, BY_REGISTRATION) };
}

/** Begins on the day on which the page stands, so that a page far behind costs no more than the first one. */
async function readByDay(executor: Executor, asked: SortedUsers, { limit, offset }: Window): Promise<ClientKey[]> {
  const { groups, holds, sorts } = asked;
  const { where, order } = wholeOf(asked);
  if (holds === "some" || offset === 0) return readParts(executor, USERS, [{ where, order }], { limit, offset });
  const isFalling = sorts[0]?.sort === 1;
  const days = await loadUsersByDay(executor, groups);
  const place = placeOf(isFalling ? days.reverse() : days, offset);
  if (!place) return [];
  const isThere = isFalling ? sql`u.registered_day <= ${place.day}::date` : sql`u.registered_day >= ${place.day}::date`;
  return readParts(executor, USERS, [{ where: allOf([where, isThere]), order }], { limit, offset: place.offset });
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
async function platformParts(executor: Executor, asked: SortedUsers): Promise<Part[]> {
  const { groups, holds, where, sorts } = asked;
  const [first, ...rest] = sorts;
  const platforms = await loadByPlatform(executor, groups);
  if (!platforms) return [wholeOf(asked)];
  const order = orderOf(rest, USER_SORTS, BY_CLIENT);
  const parts = platforms.map(({ adPlatform, users }) => ({
    where: allOf([where, sql`u.ad_platform = ${adPlatform}`]),
    order,
    ...(holds === "all" && { rows: users }),
  }));
  return first?.sort === 1 ? parts.reverse() : parts;
}

/** A day is common if at least this share of all users was last active on it. */
const COMMON_SHARE = 1 / 500;

/**
 * A sort by the day of the last activity, one day after the other, where the totals know how many users each day has. It
 * has no index of users: a user's day changes often, and each change would then have to be noted in all other indexes.
 * The users of a common day are soon met in the order of their ids, those of another one are among the active of that day.
 */
async function loginParts(executor: Executor, asked: SortedUsers): Promise<Part[]> {
  const { groups, holds, where, sorts } = asked;
  const [first, ...rest] = sorts;
  const logins = holds === "all" ? await loadUsersByLogin(executor, groups) : undefined;
  if (!logins) return [wholeOf(asked)];
  const order = orderOf(rest, USER_SORTS, BY_CLIENT);
  const parts = logins.days.map(({ day, rows }) => {
    const isCommon = rows >= logins.everybody * COMMON_SHARE || day === NEVER;
    const conditions = [where, sql`${LOGIN} = ${day}::date`, ...(isCommon ? [] : [wasActive(groups.appId, day)])];
    return { where: allOf(conditions), order, rows };
  });
  return first?.sort === 1 ? parts.reverse() : parts;
}

function wasActive(appId: number, day: string): Sql {
  return sql`u.client_id in (select d.client_id from user_day d where d.app_id = ${appId} and d.day = ${day}::date)`;
}
