import type { Vault } from "../vault.ts";
import { isOf } from "./app.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { sealFor } from "./sealed.ts";

/** An account at an ad platform that an app advertises with. */
export type AccountKey = {
  appId: number;
  adPlatform: string;
  /** Empty for the account of every advertiser that has none of its own. */
  advertiserId: string;
};

/** The part of an account that apply needs, without secrets. */
export type AccountReach = AccountKey & { postbacks: boolean };

export type PlatformAccount = AccountReach & {
  costs: boolean;
  ratePerS: number;
  /** Values of the connectors' fields; `secrets` are encrypted at rest. */
  settings: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
  tokenExpiresAtMs: number | null;
  /** When the refresh token ends, where the platform says so. */
  refreshExpiresAtMs: number | null;
  /** Accounts of one authorisation share its tokens: a new token is the new one of all. Null: tokens of its own. */
  authorisationId: number | null;
  /** The last error of the account; empty once it works again. */
  lastError: string;
  lastErrorAtMs: number | null;
};

type AccountRow = Omit<PlatformAccount, "secrets"> & { secretsSealed: string };

const columns = sql`app_id, ad_platform, advertiser_id, postbacks, costs, rate_per_s, settings, secrets_sealed,
  token_expires_at_ms, refresh_expires_at_ms, authorisation_id, last_error, last_error_at_ms`;

function whereKey(key: AccountKey) {
  return sql`app_id = ${key.appId} and ad_platform = ${key.adPlatform} and advertiser_id = ${key.advertiserId}`;
}

/** The accounts that send postbacks. */
export async function loadReaches(executor: Executor, appIds: readonly number[]): Promise<AccountReach[]> {
  return query<AccountReach>(
    executor,
    sql`select app_id, ad_platform, advertiser_id, postbacks from platform_account
      where postbacks and ${isOf(appIds)} order by app_id, ad_platform, advertiser_id`,
  );
}

export async function loadAccounts(executor: Executor, vault: Vault, appId?: number): Promise<PlatformAccount[]> {
  const rows = await query<AccountRow>(
    executor,
    sql`select ${columns} from platform_account where ${appId === undefined ? sql`true` : sql`app_id = ${appId}`}
      order by app_id, ad_platform, advertiser_id`,
  );
  return rows.map((row) => opened(row, vault));
}

/** With `lock`, other changes to the account wait until the transaction ends. */
export async function loadAccount(
  executor: Executor,
  vault: Vault,
  key: AccountKey,
  lock: "lock" | "no_lock" = "no_lock",
): Promise<PlatformAccount | undefined> {
  const [row] = await query<AccountRow>(
    executor,
    sql`select ${columns} from platform_account where ${whereKey(key)} ${lock === "lock" ? sql`for update` : sql``}`,
  );
  return row && opened(row, vault);
}

/**
 * The account and those that share its tokens, all locked in the same order by everybody. Empty when the account is gone.
 */
export async function lockSharers(executor: Executor, vault: Vault, key: AccountKey): Promise<PlatformAccount[]> {
  const rows = await query<AccountRow>(
    executor,
    sql`select ${columns} from platform_account where ${whereKey(key)}
        or authorisation_id = (select authorisation_id from platform_account where ${whereKey(key)})
      order by app_id, ad_platform, advertiser_id for update`,
  );
  return rows.map((row) => opened(row, vault));
}

/** The number of accounts whose refresh token ends before a moment. */
export async function countRefreshEnds(executor: Executor, beforeMs: number): Promise<number> {
  const [row] = await query<{ count: number }>(
    executor,
    sql`select count(*) from platform_account where refresh_expires_at_ms <= ${beforeMs}`,
  );
  return row!.count;
}

export async function storeAccount(
  executor: Executor,
  vault: Vault,
  account: PlatformAccount,
  changedAtMs: number,
): Promise<void> {
  const { appId, adPlatform, advertiserId, postbacks, costs, ratePerS, settings, secrets } = account;
  const { tokenExpiresAtMs, refreshExpiresAtMs, authorisationId } = account;
  const sealed = await sealFor(executor, vault, JSON.stringify(secrets));
  await execute(
    executor,
    sql`insert into platform_account (app_id, ad_platform, advertiser_id, postbacks, costs, rate_per_s, settings, secrets_sealed,
        token_expires_at_ms, refresh_expires_at_ms, authorisation_id, changed_at_ms, last_error, last_error_at_ms)
      values (${appId}, ${adPlatform}, ${advertiserId}, ${postbacks}, ${costs}, ${ratePerS}, ${JSON.stringify(settings)},
        ${sealed}, ${tokenExpiresAtMs}, ${refreshExpiresAtMs}, ${authorisationId}, ${changedAtMs}, ${account.lastError},
        ${account.lastErrorAtMs})
      on conflict (app_id, ad_platform, advertiser_id) do update set postbacks = excluded.postbacks, costs = excluded.costs,
        rate_per_s = excluded.rate_per_s, settings = excluded.settings, secrets_sealed = excluded.secrets_sealed,
        token_expires_at_ms = excluded.token_expires_at_ms, refresh_expires_at_ms = excluded.refresh_expires_at_ms,
        authorisation_id = excluded.authorisation_id, changed_at_ms = excluded.changed_at_ms,
        last_error = excluded.last_error, last_error_at_ms = excluded.last_error_at_ms`,
  );
}

/** Returns false when there is none. */
export async function removeAccount(executor: Executor, key: AccountKey): Promise<boolean> {
  return (await execute(executor, sql`delete from platform_account where ${whereKey(key)}`)) > 0;
}

/** Notes the account's last error; an empty text means that it works. */
export async function noteAccountError(
  executor: Executor,
  key: AccountKey,
  error: { text: string; atMs: number },
): Promise<void> {
  await execute(
    executor,
    sql`update platform_account set last_error = ${error.text}, last_error_at_ms = ${error.text === "" ? null : error.atMs}::bigint
      where ${whereKey(key)} and (last_error <> ${error.text} or last_error <> '')`,
  );
}

function opened({ secretsSealed, ...row }: AccountRow, vault: Vault): PlatformAccount {
  return { ...row, secrets: JSON.parse(vault.open(secretsSealed)) as Record<string, string> };
}
