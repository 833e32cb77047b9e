import { loadLakeApps } from "../../../src/db/lake-app.ts";
import { Engine } from "../../../src/lake/engine.ts";
import { LakeFolder, readLakeId } from "../../../src/lake/lake-folder.ts";
import { verifyLake } from "../../../src/lake/verify.ts";
import { MIB } from "../../../src/limits.ts";
import type { Audit } from "./audited.ts";

const MEMORY_BYTES = 256 * MIB;

/**
 * Promise 3, for the files of the lake: every day holds what the tables hold, up to the receipt that is written. Days that
 * still wait to be written are no fault: the lake is asked in the middle of its work.
 */
export async function lakeInStep({ site, findings }: Audit): Promise<void> {
  for (const root of site.lakeFolders) {
    const id = await readLakeId(root);
    const apps = (await loadLakeApps(site.pool)).filter(({ lakeId }) => lakeId === id);
    if (apps.length === 0) continue;
    const folder = await LakeFolder.open(root);
    const engine = await Engine.start({ memoryBytes: MEMORY_BYTES, threads: 1, root });
    try {
      for (const { appId } of apps) {
        const { days } = await verifyLake({ pool: site.pool, folder, engine }, appId);
        const different = days.filter(({ outcome }) => outcome === "different");
        findings.none(3, `days of app ${appId} differ in the lake`, different);
      }
    } finally {
      await engine.close();
    }
  }
}
