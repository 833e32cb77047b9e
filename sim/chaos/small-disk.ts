import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BLOCK_BYTES = 64 * 1024;

/** A folder on its own small file system. A ballast file takes its space and gives it back. */
export class SmallDisk {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws if nothing can be mounted. */
  static mount(folder: string, mebibytes: number): SmallDisk {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", folder], { stdio: "ignore" });
    return new SmallDisk(folder);
  }

  /** Takes all free space, or leaves this much. */
  fill(leftBytes = 0): void {
    const file = openSync(this.#ballast, "w");
    try {
      for (const block = Buffer.alloc(BLOCK_BYTES); ; ) writeSync(file, block);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
    if (leftBytes > 0) this.#giveBack(leftBytes);
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  unmount(): void {
    execFileSync("umount", [this.#folder], { stdio: "ignore" });
  }

  #giveBack(bytes: number): void {
    truncateSync(this.#ballast, Math.max(0, statSync(this.#ballast).size - bytes));
  }

  get #ballast(): string {
    return join(this.#folder, "ballast");
  }
}

let isMountable: boolean | undefined;

/** Whether this user may mount file systems: usually only root, and not in every container. */
export function canMount(): boolean {
  if (isMountable !== undefined) return isMountable;
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-disk-"));
  try {
    SmallDisk.mount(folder, 1).unmount();
    isMountable = true;
  } catch {
    isMountable = false;
  }
  rmSync(folder, { recursive: true, force: true });
  return isMountable;
}
