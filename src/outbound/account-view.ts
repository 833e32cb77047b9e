import type { Executor } from "../db/engine/sql.ts";
import { loadAccounts, type PlatformAccount } from "../db/platform-account.ts";
import { type Calendar, calendarOf } from "../domain/calendar.ts";
import { type RefreshState, refreshStateOf } from "../domain/refresh-state.ts";
import { accountFieldsOf, readAccountPlatform } from "../platform/account.ts";
import { CODED, type Connectors } from "../platform/connectors.ts";
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
  refresh_expires_at: string;
  refresh_state: RefreshState;
  last_error: string;
  last_error_at: string;
};

export async function listAccounts(
  executor: Executor,
  vault: Vault,
  app: { appId: number; timeZone: string },
  nowMs: number,
): Promise<ShownAccount[]> {
  const accounts = await loadAccounts(executor, vault, app.appId);
  return accounts.map((account) => shownAccount(account, { calendar: calendarOf(app.timeZone), nowMs }));
}

/** The fields of the platform's connectors, as shown to people. */
export function listAccountFields(platform: string, connectors: Connectors = CODED) {
  return accountFieldsOf(readAccountPlatform(platform, connectors), connectors).map(
    ({ name, isSecret, fallback, uses, hint }) => ({
      name,
      secret: isSecret === true,
      fallback,
      for: uses.join(", "),
      hint,
    }),
  );
}

export function shownAccount(
  account: PlatformAccount,
  { calendar, nowMs }: { calendar: Calendar; nowMs: number },
): ShownAccount {
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
    refresh_expires_at: textOf(account.refreshExpiresAtMs),
    refresh_state: refreshStateOf(account.refreshExpiresAtMs, nowMs),
    last_error: account.lastError,
    last_error_at: textOf(account.lastErrorAtMs),
  };
}
