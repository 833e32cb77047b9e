import type { Executor } from "../db/engine/sql.ts";
import { loadAccounts, type PlatformAccount } from "../db/platform-account.ts";
import { type Calendar, calendarOf } from "../domain/calendar.ts";
import { accountFieldsOf, readAccountPlatform } from "../platform/account.ts";
import type { Vault } from "../vault.ts";

/** An account as shown to people. Of secrets, only the names of those that are set. */
export type ShownAccount = {
  ad_platform: string;
  advertiser_id: string;
  postbacks: "on" | "off";
  costs: "on" | "off";
  rate: number;
  settings: Readonly<Record<string, string>>;
  secrets: string[];
  token_expires_at: string;
  last_error: string;
  last_error_at: string;
};

export async function listAccounts(
  executor: Executor,
  vault: Vault,
  app: { appId: number; timeZone: string },
): Promise<ShownAccount[]> {
  const accounts = await loadAccounts(executor, vault, app.appId);
  return accounts.map((account) => shownAccount(account, calendarOf(app.timeZone)));
}

/** The fields of the platform's connectors, as shown to people. */
export function listAccountFields(platform: string) {
  return accountFieldsOf(readAccountPlatform(platform)).map(({ name, isSecret, fallback, uses, hint }) => ({
    name,
    secret: isSecret === true,
    fallback,
    for: uses.join(", "),
    hint,
  }));
}

export function shownAccount(account: PlatformAccount, calendar: Calendar): ShownAccount {
  const textOf = (ms: number | null) => (ms === null ? "" : calendar.textOf(ms));
  return {
    ad_platform: account.adPlatform,
    advertiser_id: account.advertiserId,
    postbacks: account.postbacks ? "on" : "off",
    costs: account.costs ? "on" : "off",
    rate: account.ratePerS,
    settings: account.settings,
    secrets: Object.keys(account.secrets).sort(),
    token_expires_at: textOf(account.tokenExpiresAtMs),
    last_error: account.lastError,
    last_error_at: textOf(account.lastErrorAtMs),
  };
}
