import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, sql } from "./engine/sql.ts";
import type { LastActive } from "./login-total.ts";

/** The users of an app who registered on a day through a platform. */
export type UserGroup = { appId: number; registeredDay: string; adPlatform: string };

/** What a user adds to the totals of the user's group. */
export type Counted = UserGroup & LastActive & { payCount: number; payCents: number; payMaxCents: number };

/** What changes in a group's totals. */
export type TotalChange = UserGroup & {
  users: number;
  payCount: number;
  /** Exact whatever clients claim to have paid: rounding would stay in the totals forever. */
  payCents: bigint;
  backCents: bigint;
  /** The greatest payment of the users who are in the group now, as far as the change knows. */
  payMaxCents: number;
  /** The greatest payment of the users who have left the group, or null when nobody has. */
  leftMaxCents: number | null;
};

/** The changes of a transaction, summed up by group. */
export class TotalChanges {
  readonly #changes = new Map<string, TotalChange>();

  enter(user: Counted): void {
    const change = this.#of(user);
    change.users += 1;
    change.payCount += user.payCount;
    change.payCents += asStored(user.payCents);
    change.payMaxCents = Math.max(change.payMaxCents, user.payMaxCents);
  }

  leave(user: Counted): void {
    const change = this.#of(user);
    change.users -= 1;
    change.payCount -= user.payCount;
    change.payCents -= asStored(user.payCents);
    change.leftMaxCents = Math.max(change.leftMaxCents ?? 0, user.payMaxCents);
  }

  /** A user who stays in the group, and who has only paid more. */
  grow(before: Counted, now: Counted): void {
    if (before.payCount === now.payCount) return;
    const change = this.#of(now);
    change.payCount += now.payCount - before.payCount;
    change.payCents += asStored(now.payCents) - asStored(before.payCents);
    change.payMaxCents = Math.max(change.payMaxCents, now.payMaxCents);
  }

  addBackCents(group: UserGroup, cents: number): void {
    if (cents !== 0) this.#of(group).backCents += asStored(cents);
  }

  list(): TotalChange[] {
    return [...this.#changes.values()];
  }

  #of({ appId, registeredDay, adPlatform }: UserGroup): TotalChange {
    const key = `${appId} ${registeredDay} ${adPlatform}`;
    const known = this.#changes.get(key) ?? unchanged({ appId, registeredDay, adPlatform });
    this.#changes.set(key, known);
    return known;
  }
}

/** An amount as the user's row has it: beyond exact numbers, its digits are those that it is written with. */
function asStored(cents: number): bigint {
  return BigInt(String(cents));
}

function unchanged(group: UserGroup): TotalChange {
  return { ...group, users: 0, payCount: 0, payCents: 0n, backCents: 0n, payMaxCents: 0, leftMaxCents: null };
}

/** Whether two users are counted in the same group. */
export function isSameGroup(one: UserGroup, other: UserGroup): boolean {
  return one.registeredDay === other.registeredDay && one.adPlatform === other.adPlatform;
}

/**
 * Changes totals, after the users were stored. The rows are locked in sorted order, and nearly always last, because
 * senders of postbacks change them too, with orders locked. Only an erasure beside a sender can deadlock; the database
 * ends one of the two, and it is repeated.
 */
export async function changeTotals(tx: Executor, changes: TotalChanges): Promise<void> {
  const list = changes.list();
  if (list.length === 0) return;
  const changed = newRows(tx, "changed", list, {
    appId: "int",
    registeredDay: "date",
    adPlatform: "text",
    users: "bigint",
    payCount: "bigint",
    payCents: ["text", ({ payCents }) => String(payCents)],
    payMaxCents: "bigint",
    backCents: ["text", ({ backCents }) => String(backCents)],
  });
  await execute(
    tx,
    sql`insert into user_total as t (app_id, registered_day, ad_platform, users, pay_count, pay_cents, pay_max_cents, back_cents)
      select app_id, registered_day, ad_platform, users, pay_count, pay_cents::numeric, pay_max_cents, back_cents::numeric
      from ${changed} order by app_id, registered_day, ad_platform
      on conflict (app_id, registered_day, ad_platform) do update set users = t.users + excluded.users,
        pay_count = t.pay_count + excluded.pay_count, pay_cents = t.pay_cents + excluded.pay_cents,
        pay_max_cents = greatest(t.pay_max_cents, excluded.pay_max_cents), back_cents = t.back_cents + excluded.back_cents`,
    "change_totals",
  );
  await settleLeft(
    tx,
    list.filter(({ leftMaxCents }) => leftMaxCents !== null),
  );
}

/** Looks for the greatest payment again in groups that may have lost it, and deletes groups that have nobody left. */
async function settleLeft(tx: Executor, changes: readonly TotalChange[]): Promise<void> {
  if (changes.length === 0) return;
  const gone = rowsOf("gone", changes, {
    appId: "int",
    registeredDay: "date",
    adPlatform: "text",
    leftMaxCents: "bigint",
  });
  const isGone = sql`t.app_id = gone.app_id and t.registered_day = gone.registered_day and t.ad_platform = gone.ad_platform`;
  await execute(tx, sql`delete from user_total t using ${gone} where ${isGone} and t.users = 0`);
  await execute(
    tx,
    sql`update user_total t set pay_max_cents = coalesce((
        select max(u.pay_max_cents) from user_account u
        where u.app_id = gone.app_id and u.registered_day = gone.registered_day and u.ad_platform = gone.ad_platform and u.pay_count > 0), 0)
      from ${gone} where ${isGone} and t.pay_max_cents > 0 and t.pay_max_cents <= gone.left_max_cents`,
  );
}
