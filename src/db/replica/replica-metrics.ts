import type { Replica } from "./replica.ts";

type Gauges = { gauge(name: string, help: string, read: () => number): void };

/** Adds the state of the read replica to /metrics; both are 0 where there is none. */
export function showReplica(metrics: Gauges, replica: Pick<Replica, "reading"> | undefined): void {
  metrics.gauge(
    "touchpoint_replica_away",
    "1 while the read replica cannot be used and the primary serves reports; 0 without REPORT_DATABASE_URL.",
    () => (replica && !replica.reading ? 1 : 0),
  );
  metrics.gauge("touchpoint_replica_lag_ms", "How far the read replica is behind; 0 while it is away.", () =>
    Math.round(replica?.reading?.lagMs ?? 0),
  );
}
