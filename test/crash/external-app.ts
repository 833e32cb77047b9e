import type pg from "pg";
import { type App, createApp } from "../../src/db/app.ts";
import { openVault } from "../../src/vault.ts";

/** An app in a database that is not the server's own. `dataDir` is the server's: its key seals the app's secrets. */
export function createExternalApp({ pool }: { pool: pg.Pool }, dataDir: string): Promise<App> {
  return createApp(pool, openVault({ dataDir, secretKey: "" }), {
    name: "External",
    timeZone: "Asia/Shanghai",
    metadataMode: "open",
    createdAtMs: Date.now(),
  });
}
