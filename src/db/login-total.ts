import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, sql } from "./engine/sql.ts";

/** Who is counted: a user of an app and platform, by the day of the last activity. */
export type LastActive = { appId: number; adPlatform: string; latestLoginDay: string | null };

/** The users of an app and platform who were last active on a day; -infinity: never. */
type LoginTotal = { appId: number; latestLoginDay: string; adPlatform: string; users: number };

/** The changes of a transaction, summed up. */
export class LoginTotalChanges {
  readonly #changes = new Map<string, LoginTotal>();

  /** A user who is new, or was counted as `before`. */
  move(before: LastActive | undefined, now: LastActive): void {
    const isSame = before?.latestLoginDay === now.latestLoginDay && before.adPlatform === now.adPlatform;
    if (isSame) return;
    if (before) this.add(before, -1);
    this.add(now, 1);
  }

  add({ appId, adPlatform, latestLoginDay: day }: LastActive, users: 1 | -1): void {
    const latestLoginDay = day ?? "-infinity";
    const key = `${appId} ${latestLoginDay} ${adPlatform}`;
    const known = this.#changes.get(key) ?? { appId, latestLoginDay, adPlatform, users: 0 };
    known.users += users;
    this.#changes.set(key, known);
  }

  list(): LoginTotal[] {
    return [...this.#changes.values()].filter(({ users }) => users !== 0);
  }
}

/** Only apply changes these totals, because nobody else writes users. */
export async function changeLoginTotals(tx: Executor, changes: LoginTotalChanges): Promise<void> {
  const list = changes.list();
  if (list.length === 0) return;
  const columns = { appId: "int", latestLoginDay: "date", adPlatform: "text", users: "bigint" } as const;
  await execute(
    tx,
    sql`insert into login_total as t (app_id, latest_login_day, ad_platform, users)
      select * from ${newRows(tx, "changed", list, columns)}
      on conflict (app_id, latest_login_day, ad_platform) do update set users = t.users + excluded.users`,
  );
  const fewer = list.filter(({ users }) => users < 0);
  if (fewer.length === 0) return;
  await execute(
    tx,
    sql`delete from login_total t using ${rowsOf("fewer", fewer, columns)} where t.app_id = fewer.app_id
      and t.latest_login_day = fewer.latest_login_day and t.ad_platform = fewer.ad_platform and t.users = 0`,
  );
}
