import { statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { MIB } from "../../limits.ts";

/**
 * The settings of an embedded PostgreSQL, tuned for one machine whose durable log is the journal: large WAL so that
 * checkpoints are rare, no replication. fsync and full_page_writes stay on; the apply transaction alone commits
 * asynchronously (see apply/transaction.ts). `folder`: where its files are.
 */
export function serverSettings(folder: string): Record<string, string> {
  const { blocks, bsize } = statfsSync(folder);
  return {
    max_connections: "100",
    shared_buffers: `${sharedBuffersMb(totalmem())}MB`,
    work_mem: "32MB",
    maintenance_work_mem: "256MB",
    wal_level: "minimal",
    max_wal_senders: "0",
    max_wal_size: `${walMb(blocks * bsize)}MB`,
    min_wal_size: "256MB",
    wal_buffers: "16MB",
    checkpoint_timeout: "15min",
    backend_flush_after: "512kB",
    checkpoint_completion_target: "0.9",
    jit: "off",
    log_min_messages: "warning",
    // Never logs what was sent: no failed statement, no parameters, no row (see also embedded-role.ts).
    log_min_error_statement: "panic",
    log_statement: "none",
    log_parameter_max_length: "0",
    log_parameter_max_length_on_error: "0",
    log_error_verbosity: "terse",
    timezone: "UTC",
  };
}

/** An eighth of the machine's memory, between 128 and 1,024 MiB: the keys of touches are read at random. */
export function sharedBuffersMb(memoryBytes: number): number {
  return Math.round(Math.min(1_024, Math.max(128, memoryBytes / 8 / MIB)));
}

/** A twentieth of the disk, between 512 and 4,096 MiB: checkpoints are rare on a large disk, and a small one is left to the data. */
export function walMb(diskBytes: number): number {
  return Math.round(Math.min(4_096, Math.max(512, diskBytes / 20 / MIB)));
}
