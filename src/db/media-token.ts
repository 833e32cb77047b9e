import type { Vault } from "../vault.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { sealFor } from "./sealed.ts";

/** The access token of a mini-game platform, as the app's own server reports it. Never journaled, never logged. */
export async function storeMediaToken(
  executor: Executor,
  vault: Vault,
  token: { appId: number; platform: string; token: string; refreshedAtMs: number },
): Promise<void> {
  const sealed = await sealFor(executor, vault, token.token);
  await execute(
    executor,
    sql`insert into media_token (app_id, platform, token_sealed, refreshed_at_ms)
      values (${token.appId}, ${token.platform}, ${sealed}, ${token.refreshedAtMs})
      on conflict (app_id, platform) do update
        set token_sealed = excluded.token_sealed, refreshed_at_ms = excluded.refreshed_at_ms`,
  );
}

/** Tokens by app, then by platform. */
export async function loadMediaTokens(executor: Executor, vault: Vault): Promise<Map<number, Map<string, string>>> {
  const rows = await query<{ appId: number; platform: string; sealed: string }>(
    executor,
    sql`select app_id, platform, token_sealed as sealed from media_token`,
  );
  const tokens = new Map<number, Map<string, string>>();
  for (const { appId, platform, sealed } of rows) {
    tokens.set(appId, (tokens.get(appId) ?? new Map<string, string>()).set(platform, vault.open(sealed)));
  }
  return tokens;
}
