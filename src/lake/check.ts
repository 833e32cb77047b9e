import type pg from "pg";
import type { Config } from "../config.ts";
import { UsageError } from "../errors.ts";
import { Engine } from "./engine.ts";
import { LakeFolder, lakeFolderOf } from "./lake-folder.ts";
import { isEngineInstalled } from "./lake-loop.ts";
import { verifyLake } from "./verify.ts";

/** An app's part of the lake, compared with the tables. Days are those of all tables of the lake. */
export type LakeCheck = {
  app_id: number;
  equal_days: number;
  waiting_days: number;
  different_days: string;
  events_in_files: number;
  events_stored: number;
  ledger_stored: number;
};

export async function checkLake(pool: pg.Pool, config: Config, appIds: readonly number[]): Promise<LakeCheck[]> {
  if (!isEngineInstalled()) throw new UsageError("The engine of the lake is not installed: see docs/LAKE.md.");
  const folder = await LakeFolder.open(lakeFolderOf(config));
  const engine = await Engine.start({ memoryBytes: config.lakeMemoryBytes, threads: 1, root: folder.root });
  try {
    const checks: LakeCheck[] = [];
    for (const appId of appIds) checks.push(await checkApp({ pool, folder, engine }, appId));
    return checks;
  } finally {
    await engine.close();
  }
}

async function checkApp(parts: Parameters<typeof verifyLake>[0], appId: number): Promise<LakeCheck> {
  const { days, ledger, events } = await verifyLake(parts, appId);
  const of = (outcome: string) => days.filter((day) => day.outcome === outcome);
  return {
    app_id: appId,
    equal_days: of("equal").length,
    waiting_days: of("waits").length,
    different_days: of("different")
      .map(({ kind, day }) => `${kind} ${day}`)
      .join(", "),
    events_in_files: days.filter(({ kind }) => kind === "events").reduce((sum, { rows }) => sum + rows, 0),
    events_stored: events,
    ledger_stored: ledger,
  };
}
