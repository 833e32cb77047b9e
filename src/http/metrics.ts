import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** What /metrics shows, in Prometheus' text form. */
export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Counter({
    name: "touchpoint_requests_total",
    help: "Requests by endpoint and answer code.",
    labelNames: ["endpoint", "code"] as const,
    registers: [this.registry],
  });

  readonly requestSeconds = new Histogram({
    name: "touchpoint_request_seconds",
    help: "Time from the first byte of a request to its answer.",
    labelNames: ["endpoint"] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });

  readonly events = new Counter({
    name: "touchpoint_events_total",
    help: "Events by outcome, as apply counted them: stored, duplicate, or the reason of a rejection.",
    labelNames: ["outcome"] as const,
    registers: [this.registry],
  });

  readonly setAside = new Counter({
    name: "touchpoint_set_aside_total",
    help: "Journal entries that could not be understood.",
    registers: [this.registry],
  });

  readonly fsyncSeconds = new Histogram({
    name: "touchpoint_journal_fsync_seconds",
    help: "Time of one write and fdatasync of the journal.",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
    registers: [this.registry],
  });

  readonly journalRecords = new Counter({
    name: "touchpoint_journal_records_total",
    help: "Records written to the journal.",
    registers: [this.registry],
  });

  constructor(live: { backlogBytes(): number; waitingBytes(): number; applyLagMs(): number; diskFreeBytes(): number }) {
    this.#gauge("touchpoint_journal_depth_bytes", "Journal that has not been applied yet.", () => live.backlogBytes());
    this.#gauge("touchpoint_journal_waiting_bytes", "Bytes in memory that wait for the disk.", () =>
      live.waitingBytes(),
    );
    this.#gauge("touchpoint_apply_lag_ms", "How far the tables are behind what was acknowledged.", () =>
      live.applyLagMs(),
    );
    this.#gauge("touchpoint_disk_free_bytes", "Free space where the journal is.", () => live.diskFreeBytes());
    this.#gauge("touchpoint_resident_memory_bytes", "Resident memory of the process.", () => process.memoryUsage.rss());
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }
}
