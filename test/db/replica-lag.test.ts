import { expect, test } from "vitest";
import { ReplicaLag } from "../../src/db/replica/replica-lag.ts";
import { LIMITS } from "../../src/limits.ts";

const LAG_MS_MAX = LIMITS.replicaLagMs;

test("nothing is known before the replica has confirmed a position", () => {
  const lag = new ReplicaLag();
  expect(lag.lagMs(0)).toBeUndefined();
  lag.notePrimary(100, 1_000);
  expect(lag.lagMs(1_000)).toBeUndefined();
  lag.noteReplica(99);
  expect(lag.lagMs(1_000)).toBeUndefined();
});

test("the replica is whole until the newest moment whose position it has replayed", () => {
  const lag = new ReplicaLag();
  lag.notePrimary(100, 1_000);
  lag.notePrimary(200, 2_000);
  lag.notePrimary(200, 3_000);
  lag.notePrimary(300, 4_000);
  lag.noteReplica(100);
  expect(lag.lagMs(4_000)).toBe(3_000);
  lag.noteReplica(250);
  expect(lag.lagMs(4_000)).toBe(1_000);
  lag.noteReplica(300);
  expect(lag.lagMs(4_000)).toBe(0);
});

test("a replica that stands still falls behind, and the moment that it has confirmed stays", () => {
  const lag = new ReplicaLag();
  lag.notePrimary(100, 1_000);
  lag.noteReplica(100);
  lag.notePrimary(200, 2_000);
  lag.noteReplica(150);
  expect(lag.lagMs(6_000)).toBe(5_000);
});

test("a replica that is too far behind is not read until it has caught up", () => {
  const lag = new ReplicaLag();
  lag.notePrimary(100, 0);
  lag.noteReplica(100);
  expect(lag.lagMs(LAG_MS_MAX)).toBe(LAG_MS_MAX);
  expect(lag.lagMs(LAG_MS_MAX + 1)).toBeUndefined();
  lag.notePrimary(200, 1);
  lag.notePrimary(300, LAG_MS_MAX + 2);
  // The position of the first moment is forgotten: it could not make the replica readable any more.
  lag.noteReplica(250);
  expect(lag.lagMs(LAG_MS_MAX + 2)).toBeUndefined();
  lag.noteReplica(300);
  expect(lag.lagMs(LAG_MS_MAX + 2)).toBe(0);
});
