import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endChildren } from "./children.ts";

/** Works in a folder that goes afterwards, and so do the processes that were started, however the work ends. */
export async function inOwnFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-bench-"));
  // Open to pass through, as DATA_DIR is: else, as root, the cluster would be put elsewhere and stay there.
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
