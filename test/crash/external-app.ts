import type pg from "pg";
import { type App, insertApp } from "../../src/db/app.ts";
import { openVault } from "../../src/vault.ts";

/** An app in an external database. Its secrets are sealed with the key in the server's `dataDir`, or with `secretKey`. */
export function createExternalApp({ pool }: { pool: pg.Pool }, dataDir: string, secretKey = ""): Promise<App> {
  return insertApp(pool, openVault({ dataDir, secretKey }), {
    name: "External",
    timeZone: "Asia/Shanghai",
    metadataMode: "open",
    createdAtMs: Date.now(),
  });
}
