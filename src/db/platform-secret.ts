import type { SecretOpener, Vault } from "../vault.ts";
import { isOf, tellSettingsChanged } from "./app.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { sealFor } from "./sealed.ts";

/** A secret that an ad platform has given to the app, such as Baidu's akey. */
export type PlatformSecret = { appId: number; platform: string; name: string };

/** Secrets by app, then by `platform name`. */
export async function loadPlatformSecrets(
  executor: Executor,
  vault: SecretOpener,
  appIds?: readonly number[],
): Promise<Map<number, Map<string, string>>> {
  const rows = await query<PlatformSecret & { sealed: string }>(
    executor,
    sql`select app_id, ad_platform as platform, name, value_sealed as sealed from platform_secret
      where ${isOf(appIds)}`,
  );
  const secrets = new Map<number, Map<string, string>>();
  for (const row of rows) {
    const own = secrets.get(row.appId) ?? new Map<string, string>();
    secrets.set(row.appId, own.set(`${row.platform} ${row.name}`, vault.open(row.sealed)));
  }
  return secrets;
}

/** Stores a secret; an empty value removes it. */
export async function storePlatformSecret(
  executor: Executor,
  vault: Vault,
  secret: PlatformSecret & { value: string },
): Promise<void> {
  const { appId, platform, name } = secret;
  if (secret.value === "") {
    await execute(
      executor,
      sql`delete from platform_secret where app_id = ${appId} and ad_platform = ${platform} and name = ${name}`,
    );
  } else {
    const sealed = await sealFor(executor, vault, secret.value);
    await execute(
      executor,
      sql`insert into platform_secret (app_id, ad_platform, name, value_sealed)
        values (${appId}, ${platform}, ${name}, ${sealed})
        on conflict (app_id, ad_platform, name) do update set value_sealed = excluded.value_sealed`,
    );
  }
  await tellSettingsChanged(executor, [appId]);
}
