import type pg from "pg";
import type { Config } from "../config.ts";
import { loadColdLakes } from "../db/cold-event.ts";
import { isDistributed } from "../db/engine/distribute.ts";
import { UsageError } from "../errors.ts";
import { lakeFolderOf, readLakeId } from "./lake-folder.ts";
import { ENGINE_PACKAGE, isEngineInstalled } from "./lake-loop.ts";

/** Refuses a process that would apply or write files, and could not read the days that are only in the lake. */
export async function assertColdDays(
  pool: pg.Pool,
  config: Pick<Config, "dataDir" | "eventHotDays" | "roles">,
): Promise<void> {
  if (!config.roles.has("apply") && !config.roles.has("lake")) return;
  const isWanted = config.eventHotDays > 0;
  const [lakeId] = await loadColdLakes(pool);
  if (lakeId === undefined && !isWanted) return;
  if (isWanted && (await isDistributed(pool)))
    throw new UsageError("EVENT_HOT_DAYS: does not work where Citus distributes the tables; set it to 0.");
  if (!isEngineInstalled())
    throw new UsageError(
      `The package ${ENGINE_PACKAGE}, which reads the lake, is not installed: run npm install${lakeId === undefined ? ", or set EVENT_HOT_DAYS to 0" : ", because older days are only in the lake"}.`,
    );
  const root = lakeFolderOf(config);
  if (lakeId !== undefined && (await readLakeId(root)) !== lakeId)
    throw new UsageError(
      `Older days are only in the lake ${lakeId}, which is not in ${root}: start with the DATA_DIR that holds it, or restore a backup.`,
    );
}
