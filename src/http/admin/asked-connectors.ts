import type pg from "pg";
import type { AppDirectory } from "../../intake/app-directory.ts";
import { loadConnectors } from "../../outbound/connectors.ts";
import { CODED, type Connectors } from "../../platform/connectors.ts";

/** The connectors of the app that a query names; without an app, those of the program. */
export async function askedConnectors(
  { pool, apps }: { pool: pg.Pool; apps: AppDirectory },
  { app_id }: { app_id?: string | undefined },
): Promise<Connectors> {
  if (app_id === undefined) return CODED;
  const { appId } = await apps.findById(Number(app_id));
  return loadConnectors(pool, appId);
}
