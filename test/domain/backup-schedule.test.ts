import { expect, test } from "vitest";
import {
  backupName,
  backupOverdueMs,
  backupTimeOf,
  nextBackupAtMs,
  surplusBackups,
} from "../../src/domain/backup-schedule.ts";

const HOUR_MS = 3_600_000;
const AT_MS = Date.UTC(2026, 10, 17, 1, 30);

test("the folder of a backup is named by its time, to the second", () => {
  expect(backupName(AT_MS + 999)).toBe("20261117T013000Z");
  expect(backupTimeOf("20261117T013000Z")).toBe(AT_MS);
  for (const name of ["mine", "20261117T013000Z.unfinished-12", "2026-11-17"])
    expect(backupTimeOf(name)).toBeUndefined();
});

test.each<[string, number | undefined, number | undefined, number]>([
  ["the first one is due at once", undefined, undefined, 0],
  ["the next one is due after the interval", AT_MS, undefined, AT_MS + 24 * HOUR_MS],
  ["a failed first one is tried again", undefined, AT_MS, AT_MS + HOUR_MS],
  ["a failed later one is tried again", AT_MS, AT_MS + 24 * HOUR_MS, AT_MS + 25 * HOUR_MS],
])("%s", (_, lastAtMs, failedAtMs, expected) => {
  expect(nextBackupAtMs({ lastAtMs, failedAtMs }, { everyMs: 24 * HOUR_MS, retryMs: HOUR_MS })).toBe(expected);
});

test("only the oldest scheduled backups are surplus, whatever else is in the folder", () => {
  const names = ["mine", "20261117T000000Z", "20261115T000000Z", "20261116T000000Z", "20261101T000000Z.unfinished-7"];
  expect(surplusBackups(names, 2)).toEqual(["20261115T000000Z"]);
  expect(surplusBackups(names, 3)).toEqual([]);
  expect(surplusBackups([], 1)).toEqual([]);
});

test.each<[string, { lastAtMs: number | undefined } | undefined, number]>([
  ["nothing is overdue without a schedule", undefined, 0],
  ["a first backup is overdue from the start of the server", { lastAtMs: undefined }, 5 * HOUR_MS],
  ["so is one that fell due while no server ran", { lastAtMs: AT_MS - 90 * HOUR_MS }, 5 * HOUR_MS],
  ["a recent one is not", { lastAtMs: AT_MS }, 0],
  ["one that is late is by so much", { lastAtMs: AT_MS - 20 * HOUR_MS }, HOUR_MS],
])("%s", (_, state, expected) => {
  const nowMs = AT_MS + 5 * HOUR_MS;
  expect(backupOverdueMs(state, { nowMs, startedAtMs: AT_MS, everyMs: 24 * HOUR_MS })).toBe(expected);
});
