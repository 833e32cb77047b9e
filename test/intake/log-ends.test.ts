import { expect, test } from "vitest";
import { waitForEnds } from "../../src/intake/open-journal.ts";

/** A log of two partitions, the second of which says these ends one after the other, and the last of them for ever. */
function logEnding(...ends: number[]) {
  const known = [5, 0];
  return {
    partitions: 2,
    end: (partition: number) => known[partition]!,
    freshEnd: async (partition: number) => {
      if (partition === 1) known[1] = ends.length > 1 ? ends.shift()! : ends[0]!;
      return known[partition]!;
    },
  };
}

test("a log whose leader does not know the last entries yet is asked again", async () => {
  await waitForEnds(logEnding(3, 4, 8), [5, 8]);
});

test("a log that stays behind its cursor is refused as an older copy", async () => {
  await expect(waitForEnds(logEnding(3), [5, 8], 0)).rejects.toThrow(
    "Partition 1 of the log was applied up to 8, but ends before it: LOG_URL leads to an older copy.",
  );
});

test("a log with fewer partitions than were applied is refused", async () => {
  await expect(waitForEnds(logEnding(9), [5, 8, 2], 0)).rejects.toThrow("Partition 2 of the log was applied up to 2");
});
