import fc from "fast-check";
import { expect, test } from "vitest";
import { UsageError } from "../../../src/errors.ts";
import { partitionOfApp } from "../../../src/journal/jetstream/app-partition.ts";
import { Leader } from "../../../src/journal/jetstream/leader.ts";
import { assertUsable, promiseOf } from "../../../src/journal/jetstream/nats-server.ts";
import { missingUntil, sequenceOf } from "../../../src/journal/jetstream/stream-reader.ts";

test("the partition of an app is one of the partitions", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.integer({ min: 1, max: 256 }), (app, partitions) => {
      const partition = partitionOfApp(app, partitions);
      expect(Number.isInteger(partition) && partition >= 0 && partition < partitions).toBe(true);
    }),
  );
});

test("the partitions of existing logs never change", () => {
  expect([1, 2, 3, 4, 5, 1_000, 2 ** 31 - 1].map((app) => partitionOfApp(app, 16))).toEqual([9, 3, 13, 7, 1, 0, 14]);
});

test.each([
  ["consecutive ids", 1],
  ["ids with a common step", 16],
])("%s are spread over all partitions", (_, step) => {
  const counts = new Map<number, number>();
  for (let number = 1; number <= 1_600; number += 1) {
    const partition = partitionOfApp(number * step, 16);
    counts.set(partition, (counts.get(partition) ?? 0) + 1);
  }
  expect(counts.size).toBe(16);
  expect(Math.max(...counts.values())).toBeLessThan(110);
});

test("the first apps of an installation are not in one partition", () => {
  expect(new Set([1, 2, 3, 4].map((app) => partitionOfApp(app, 4))).size).toBe(4);
});

test.each([
  ["2.9.10", 3, { holders: 2, disks: "later" }],
  ["2.9.10", 1, { holders: 1, disks: "later" }],
  ["2.10.0", 3, { holders: 2, disks: "as_set" }],
  ["2.11.4-RC.1", 5, { holders: 3, disks: "as_set" }],
  ["3.0.0", 1, { holders: 1, disks: "as_set" }],
])("version %s with %i replicas promises %o", (version, replicas, promise) => {
  expect(promiseOf({ version, replicas })).toMatchObject(promise);
});

test("a promise is a sentence that names what the operator can change", () => {
  expect(promiseOf({ version: "2.9.10", replicas: 3 }).sentence).toBe(
    "Acknowledged entries are held by 2 of 3 nats-servers unless one of them freezes and goes on, and reach their disks within two minutes: version 2.9.10 cannot sync earlier.",
  );
  expect(promiseOf({ version: "2.10.5", replicas: 1 }).sentence).toBe(
    "Acknowledged entries are held by one nats-server, and are on their disks if `sync_interval: always` is set there.",
  );
});

const INFO = { client_id: 1, go: "", host: "", port: 1, proto: 1, server_id: "", server_name: "", version: "2.9.10" };
const USABLE = { ...INFO, jetstream: true, max_payload: 100 };

test("a server without JetStream is refused", () => {
  const usage = { entryBytesMax: 100, address: { replicas: 1 } };
  expect(() => assertUsable(USABLE, usage)).not.toThrow();
  expect(() => assertUsable({ ...USABLE, jetstream: false }, usage)).toThrow(UsageError);
});

test.each([
  ["2.9.10", "refused"],
  ["2.10.22", "refused"],
  ["2.10.23", "taken"],
  ["2.10.27-RC.1", "taken"],
  ["2.15.1", "taken"],
  ["3.0.0", "taken"],
])("replicas at servers of version %s are %s, and a single server is always taken", (version, outcome) => {
  const open = (address: { replicas: number; versions?: "any" }) => {
    try {
      assertUsable({ ...USABLE, version }, { entryBytesMax: 100, address });
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      return "refused";
    }
    return "taken";
  };
  expect(open({ replicas: 3 })).toBe(outcome);
  expect(open({ replicas: 3, versions: "any" })).toBe("taken");
  expect(open({ replicas: 1 })).toBe("taken");
});

test.each<[string, { first_seq: number; last_seq: number; deleted?: number[] }, number, number]>([
  ["nothing is missing", { first_seq: 1, last_seq: 9 }, 3, 3],
  ["the beginning was purged", { first_seq: 5, last_seq: 9 }, 0, 4],
  ["the beginning was purged, and what follows deleted", { first_seq: 5, last_seq: 9, deleted: [5, 6] }, 2, 6],
  ["a stretch was deleted", { first_seq: 1, last_seq: 9, deleted: [4, 5, 7] }, 3, 5],
  ["the end was deleted", { first_seq: 1, last_seq: 9, deleted: [8, 9] }, 7, 9],
  ["all was purged", { first_seq: 10, last_seq: 9 }, 4, 9],
])("when %s, that much is missing", (_, state, from, until) => {
  expect(missingUntil(state, from)).toBe(until);
});

test.each([
  ["$JS.ACK.log-0.consumer.1.42.7.1700000000000000000.0", 42],
  ["$JS.ACK.domain.account.log-0.consumer.1.42.7.1700000000000000000.0", 42],
  ["$JS.ACK.domain.account.log-0.consumer.1.42.7.1700000000000000000.0.random", 42],
  ["", Number.NaN],
])("the sequence of %s", (reply, sequence) => {
  expect(sequenceOf(reply)).toBe(sequence);
});

test("a new leader's word counts when it has led for half a second, and that of a single server at once", () => {
  const leader = new Leader("n0", 1_000);
  expect(leader.newForMs(1_000)).toBe(500);
  leader.heard("n0", 1_400);
  expect(leader.newForMs(1_500)).toBe(0);
  leader.heard("n1", 2_000);
  expect(leader.newForMs(2_100)).toBe(400);
  leader.heard("", 2_400);
  leader.heard("", 3_000);
  expect(leader.newForMs(3_000)).toBe(500);
  leader.heard("n1", 3_100);
  expect(leader.newForMs(3_600)).toBe(0);
  leader.forget();
  leader.heard("n1", 4_000);
  expect(leader.newForMs(4_000)).toBe(500);
  const single = new Leader(undefined, 1_000);
  single.forget();
  single.heard(undefined, 1_000);
  expect(single.newForMs(1_000)).toBe(0);
});
