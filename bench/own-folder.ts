import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChildren } from "./children.ts";

/** Works in a temporary folder. However the work ends, the folder and the started processes are gone afterwards. */
export async function inOwnFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-bench-"));
  // Others may pass through the folder, as through DATA_DIR: otherwise a cluster started as root would be put elsewhere and
  // stay there.
  chmodSync(folder, 0o711);
  const clear = async () => {
    await endChildren();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void clear().finally(() => process.exit(1)));
  }
  await work(folder).finally(clear);
}
