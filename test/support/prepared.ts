import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openDatabase } from "../../src/db/engine/database.ts";
import { createLog } from "../../src/log.ts";
import { makeDataDir } from "../process/launch.ts";

declare module "vitest" {
  interface ProvidedContext {
    template: string;
  }
}

/** Makes a data folder whose database has all its tables, empty, once for all its copies. */
export async function makeTemplate(): Promise<string> {
  const dataDir = makeDataDir();
  const config = { dataDir, databaseUrl: "", databaseDirectUrl: "", databaseConnectionsMax: 1 };
  const database = await openDatabase(config, { log: createLog("silent"), clock: systemClock });
  await database.stop();
  return dataDir;
}

/**
 * A copy of the template, for tests that are not about the first start: creating a cluster and its tables takes ten times as
 * long. An empty folder if the cluster cannot lie inside its folder.
 */
export function prepareDataDir(template = inject("template")): string {
  const dataDir = makeDataDir();
  if (!existsSync(join(template, "postgres-folder"))) execFileSync("cp", ["-Rp", `${template}/.`, dataDir]);
  return dataDir;
}
