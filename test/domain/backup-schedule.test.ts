import { expect, test } from "vitest";
import {
  backupMsMax,
  backupName,
  backupOverdueMs,
  backupTimeOf,
  newestBackup,
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
  ["a last one from the future does not count", AT_MS + 9_000 * HOUR_MS, undefined, 0],
  ["a failure from the future does not count either", AT_MS, AT_MS + 9_000 * HOUR_MS, AT_MS + 24 * HOUR_MS],
])("%s", (_, lastAtMs, failedAtMs, expected) => {
  const schedule = { nowMs: AT_MS + 24 * HOUR_MS, everyMs: 24 * HOUR_MS, retryMs: HOUR_MS };
  expect(nextBackupAtMs({ lastAtMs, failedAtMs }, schedule)).toBe(expected);
});

test("the newest backup is the newest one that is not from the future", () => {
  expect(newestBackup(["20261116T000000Z", "mine", "20991231T000000Z", "20261115T000000Z"], AT_MS)).toBe(
    "20261116T000000Z",
  );
  expect(newestBackup(["20991231T000000Z"], AT_MS)).toBeUndefined();
});

test("a backup may take half of the interval, at least one hour and at most twelve", () => {
  expect([1, 6, 24, 168].map((hours) => backupMsMax(hours * HOUR_MS) / HOUR_MS)).toEqual([1, 3, 12, 12]);
});

test("only the oldest scheduled backups are surplus, whatever else is in the folder", () => {
  const names = ["mine", "20261117T000000Z", "20261115T000000Z", "20261116T000000Z", "20261101T000000Z.unfinished-7"];
  const wish = { taken: "20261117T000000Z", nowMs: AT_MS };
  expect(surplusBackups(names, { ...wish, keep: 2 })).toEqual(["20261115T000000Z"]);
  expect(surplusBackups(names, { ...wish, keep: 3 })).toEqual([]);
  expect(surplusBackups([], { ...wish, keep: 1 })).toEqual([]);
});

test("a backup from the future is surplus before all others, and the one just taken never is", () => {
  const names = ["20261116T000000Z", "20261117T013000Z", "20991231T000000Z"];
  const surplus = (keep: number, nowMs: number) => surplusBackups(names, { keep, taken: "20261117T013000Z", nowMs });
  expect(surplus(2, AT_MS)).toEqual(["20991231T000000Z"]);
  expect(surplus(1, AT_MS)).toEqual(["20991231T000000Z", "20261116T000000Z"]);
  expect(surplus(1, AT_MS - 100 * HOUR_MS), "the clock went back meanwhile").toEqual([
    "20261116T000000Z",
    "20991231T000000Z",
  ]);
});

test.each<[string, { lastAtMs: number | undefined } | undefined, number]>([
  ["nothing is overdue without a schedule", undefined, 0],
  ["a first backup is overdue from the start of the server", { lastAtMs: undefined }, 5 * HOUR_MS],
  ["so is one that fell due while no server ran", { lastAtMs: AT_MS - 90 * HOUR_MS }, 5 * HOUR_MS],
  ["one from the future counts as none", { lastAtMs: AT_MS + 9_000 * HOUR_MS }, 5 * HOUR_MS],
  ["a recent one is not", { lastAtMs: AT_MS }, 0],
  ["one that is late is by so much", { lastAtMs: AT_MS - 20 * HOUR_MS }, HOUR_MS],
])("%s", (_, state, expected) => {
  const nowMs = AT_MS + 5 * HOUR_MS;
  expect(backupOverdueMs(state, { nowMs, startedAtMs: AT_MS, everyMs: 24 * HOUR_MS })).toBe(expected);
});
