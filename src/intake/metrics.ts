import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { VERSION } from "../version.ts";
import type { Counted } from "./refusals.ts";

type LiveFigures = {
  backlogBytes(): number;
  waitingBytes(): number;
  applyLagMs(): number;
  isApplyStuck(): boolean;
  diskFreeBytes(): number;
  bodiesBytes(): number;
  largeBodies(): number;
  largeBodiesTotal(): number;
  intakeThreads(): number;
  intakeThreadBodies(): number;
  loopDelayMs(): number;
  refusals(): readonly Counted[];
};

/** The figures of /metrics, in Prometheus' text form. */
export class Metrics {
  readonly registry = new Registry();

  /** Counted in plain objects and formatted on demand, so that a request does not pay for labels. */
  readonly #endpoints = new Map<string, EndpointMeter>();
  #text: Promise<string> | undefined;

  readonly events = new Counter({
    name: "touchpoint_events_total",
    help: "Events by outcome, as apply counted them: stored, duplicate, or the reason of a rejection.",
    labelNames: ["outcome"] as const,
    registers: [this.registry],
  });

  readonly touches = new Counter({
    name: "touchpoint_touches_total",
    help: "Link calls by outcome, as apply counted them: stored, duplicate, or the reason why they were not stored.",
    labelNames: ["outcome"] as const,
    registers: [this.registry],
  });

  readonly setAside = new Counter({
    name: "touchpoint_set_aside_total",
    help: "Journal entries that could not be understood.",
    registers: [this.registry],
  });

  readonly leftOut = new Counter({
    name: "touchpoint_profile_left_out_total",
    help: "Properties that apply left out or cut because a value or the profile of its user was full.",
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

  readonly passwordHashes = new Counter({
    name: "touchpoint_password_hashes_total",
    help: "Passwords that were hashed, to check one or to set one.",
    registers: [this.registry],
  });

  readonly #refusals: () => readonly Counted[];

  constructor(live: LiveFigures) {
    this.#refusals = live.refusals;
    new Gauge({
      name: "touchpoint_build_info",
      help: "Always 1; the labels say which version runs.",
      labelNames: ["version", "node"] as const,
      registers: [this.registry],
    }).set({ version: VERSION, node: process.version }, 1);
    this.gauge("touchpoint_journal_depth_bytes", "Journal that has not been applied yet.", () => live.backlogBytes());
    this.gauge("touchpoint_journal_waiting_bytes", "Bytes in memory that wait for the disk.", () =>
      live.waitingBytes(),
    );
    this.gauge("touchpoint_apply_lag_ms", "How far the tables are behind what was acknowledged.", () =>
      live.applyLagMs(),
    );
    this.gauge("touchpoint_bodies_in_flight_bytes", "Bodies that are being received or answered.", () =>
      live.bodiesBytes(),
    );
    this.gauge("touchpoint_apply_stuck", "1 while nothing reaches the tables; /readyz says why.", () =>
      live.isApplyStuck() ? 1 : 0,
    );
    this.gauge("touchpoint_large_bodies", "Large bodies that wait for their thread or are judged by it.", () =>
      live.largeBodies(),
    );
    this.gauge("touchpoint_large_bodies_total", "Large bodies that were given to their thread.", () =>
      live.largeBodiesTotal(),
    );
    this.gauge("touchpoint_intake_threads", "Threads that judge bodies beside the main thread.", () =>
      live.intakeThreads(),
    );
    this.gauge("touchpoint_intake_thread_bodies_total", "Bodies that were given to these threads.", () =>
      live.intakeThreadBodies(),
    );
    this.gauge("touchpoint_event_loop_delay_ms", "Longest hold-up of the event loop in the last minute.", () =>
      live.loopDelayMs(),
    );
    this.gauge("touchpoint_disk_free_bytes", "Free space where the journal is.", () => live.diskFreeBytes());
    this.gauge("touchpoint_resident_memory_bytes", "Resident memory of the process.", () => process.memoryUsage.rss());
  }

  answered(endpoint: string, code: number, tookMs: number): void {
    let meter = this.#endpoints.get(endpoint);
    if (!meter) {
      meter = new EndpointMeter();
      this.#endpoints.set(endpoint, meter);
    }
    meter.count(code, tookMs);
  }

  /** All requests in one turn of the event loop get the same text: hundreds may come on one connection. */
  text(): Promise<string> {
    if (!this.#text) {
      this.#text = this.#makeText();
      setImmediate(() => {
        this.#text = undefined;
      });
    }
    return this.#text;
  }

  async #makeText(): Promise<string> {
    const lines = [
      "# HELP touchpoint_requests_total Requests by endpoint and answer code.",
      "# TYPE touchpoint_requests_total counter",
    ];
    for (const [endpoint, meter] of this.#endpoints) lines.push(...meter.requestLines(endpoint));
    lines.push(
      "# HELP touchpoint_request_seconds Time from the first byte of a request to its answer.",
      "# TYPE touchpoint_request_seconds histogram",
    );
    for (const [endpoint, meter] of this.#endpoints) lines.push(...meter.durationLines(endpoint));
    lines.push(
      "# HELP touchpoint_refused_total Calls refused with 2003 because an app (0: none) or an address had too much.",
      "# TYPE touchpoint_refused_total counter",
      ...this.#refusals().map(
        ({ appId, refusal, calls }) => `touchpoint_refused_total{app="${appId}",reason="${refusal}"} ${calls}`,
      ),
    );
    return `${lines.join("\n")}\n\n${await this.registry.metrics()}`;
  }

  /** Adds a figure that is read when somebody asks for it. */
  gauge(name: string, help: string, read: () => number): void {
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

const DURATION_BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000];

class EndpointMeter {
  readonly #byCode = new Map<number, number>();
  readonly #buckets = new Array<number>(DURATION_BUCKETS_MS.length + 1).fill(0);
  #sumMs = 0;

  count(code: number, tookMs: number): void {
    this.#byCode.set(code, (this.#byCode.get(code) ?? 0) + 1);
    this.#sumMs += tookMs;
    let bucket = 0;
    while (bucket < DURATION_BUCKETS_MS.length && tookMs > DURATION_BUCKETS_MS[bucket]!) bucket += 1;
    this.#buckets[bucket]! += 1;
  }

  requestLines(endpoint: string): string[] {
    return [...this.#byCode].map(
      ([code, count]) => `touchpoint_requests_total{endpoint="${endpoint}",code="${code}"} ${count}`,
    );
  }

  durationLines(endpoint: string): string[] {
    let below = 0;
    const lines = this.#buckets.map((count, index) => {
      below += count;
      const edge = index < DURATION_BUCKETS_MS.length ? DURATION_BUCKETS_MS[index]! / 1000 : "+Inf";
      return `touchpoint_request_seconds_bucket{endpoint="${endpoint}",le="${edge}"} ${below}`;
    });
    const name = "touchpoint_request_seconds";
    return [
      ...lines,
      `${name}_sum{endpoint="${endpoint}"} ${this.#sumMs / 1000}`,
      `${name}_count{endpoint="${endpoint}"} ${below}`,
    ];
  }
}
