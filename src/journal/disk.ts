import fs from "node:fs";
import { promisify } from "node:util";
import { syncFolder } from "./segment.ts";

/** What a journal does to the disk once it is open, so that a test can let it run full. */
export type Disk = {
  /** A write returns only when it is durable, so that it needs no sync after it. */
  writesAreDurable?: boolean;
  /** Takes the bytes over: nobody else may use them afterwards. */
  write(fd: number, bytes: Buffer, at: number): Promise<void>;
  sync(fd: number): Promise<void>;
  truncate(fd: number, length: number): Promise<void>;
  syncFolder(dir: string): Promise<void>;
  /** Nothing more is asked of it. */
  close?(): Promise<void>;
};

/** Where the system has it, each write waits for the disk by itself: one trip to another thread instead of two. */
export const { O_DSYNC = 0 } = fs.constants;

const write = promisify(fs.write);

/** The disk by way of Node's thread pool: enough for a command, whose pool has nothing else to do. */
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
