import fs from "node:fs";
import { promisify } from "node:util";
import { syncFolder } from "./segment.ts";

/** The disk operations of an open journal, as an interface so that a test can simulate a full disk. */
export type Disk = {
  /** Whether a write returns only when it is durable and needs no sync after it. */
  writesAreDurable?: boolean;
  /** The bytes must stay as they are until it is done. */
  write(fd: number, bytes: Buffer, at: number): Promise<void>;
  sync(fd: number): Promise<void>;
  truncate(fd: number, length: number): Promise<void>;
  syncFolder(dir: string): Promise<void>;
  /** Called when the journal no longer needs the disk. */
  close?(): Promise<void>;
};

/** Makes each write wait for the disk, where the system supports it: one trip to another thread instead of two. */
export const { O_DSYNC = 0 } = fs.constants;

const write = promisify(fs.write);

/** The disk through Node's thread pool: enough for a command, whose pool has nothing else to do. */
export const poolDisk: Disk = {
  writesAreDurable: O_DSYNC !== 0,
  async write(fd, bytes, at) {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await write(fd, bytes, done, bytes.length - done, at + done);
      done += bytesWritten;
    }
  },
  sync: promisify(fs.fdatasync),
  truncate: promisify(fs.ftruncate),
  syncFolder,
};
