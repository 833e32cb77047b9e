import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { UsageError } from "../../src/errors.ts";

/** The data folder of a market's server. */
export type DataFolder = { dataDir: string; remove(): void };

/** A temporary folder, removed when the market is over. */
export function temporaryFolder(): DataFolder {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-market-"));
  // Others may pass through the folder, as through DATA_DIR: otherwise a cluster started as root would be put elsewhere and
  // stay there.
  chmodSync(folder, 0o711);
  return { dataDir: join(folder, "data"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const MARK = "made-by-the-market";

/** A named folder, emptied first. A folder that holds anything but an earlier market is left alone. */
export function freshFolder(path: string): DataFolder {
  const dataDir = resolve(path);
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    if (!existsSync(join(dataDir, MARK))) {
      throw new UsageError(
        `${path} holds something that is not an earlier market; name another folder with --data-dir.`,
      );
    }
    // As root the cluster may lie outside, at the path in this file.
    const pointer = join(dataDir, "postgres-folder");
    if (existsSync(pointer)) rmSync(readFileSync(pointer, "utf8").trim(), { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  writeFileSync(join(dataDir, MARK), "The data of a simulated market. It is made anew each time.\n");
  return { dataDir, remove: () => {} };
}
