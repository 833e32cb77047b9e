import fc from "fast-check";
import { expect, test } from "vitest";
import { joinJournals, type Stretch } from "../../src/backup/journal-join.ts";

const at = (from: number, bytes: number): Stretch => ({ from, bytes });

test.each<[string, Stretch[], Stretch[], number, unknown]>([
  [
    "an empty folder takes everything",
    [],
    [at(0, 64), at(64, 10)],
    70,
    { kind: "joined", taken: [at(0, 64), at(64, 10)] },
  ],
  ["a journal that went on is kept", [at(0, 64), at(64, 40)], [at(64, 10)], 70, { kind: "joined", taken: [] }],
  [
    "what was deleted there comes from the backup",
    [at(64, 64), at(128, 5)],
    [at(0, 64), at(64, 10)],
    30,
    { kind: "joined", taken: [at(0, 64)] },
  ],
  [
    "an older copy grows by the backup's bytes",
    [at(0, 64), at(64, 3)],
    [at(0, 64), at(64, 64), at(128, 9)],
    130,
    { kind: "joined", taken: [at(64, 64), at(128, 9)] },
  ],
  [
    "a segment that was cut after a failed write stays cut",
    [at(0, 60), at(60, 30)],
    [at(0, 64)],
    50,
    { kind: "joined", taken: [] },
  ],
  ["bytes that nobody has are named", [at(128, 64)], [at(0, 64)], 30, { kind: "gap", from: 64, until: 128 }],
  ["a journal from the cursor on needs no earlier bytes", [at(64, 64)], [at(64, 9)], 64, { kind: "joined", taken: [] }],
])("%s", (_name, own, saved, cursor, expected) => {
  expect(joinJournals(own, saved, cursor)).toEqual(expected);
});

test("wherever a journal was cut, pruned or copied, both parts together reach from the cursor to its end, or the gap is named", () => {
  const journal = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }).map((sizes) => {
    let from = 0;
    return sizes.map((bytes) => {
      const segment = at(from, bytes);
      from += bytes;
      return segment;
    });
  });
  const cutAt = (segments: readonly Stretch[], until: number) =>
    segments.filter(({ from }) => from < until).map(({ from, bytes }) => at(from, Math.min(bytes, until - from)));
  const endOf = (segments: readonly Stretch[]) =>
    segments.reduce((end, { from, bytes }) => Math.max(end, from + bytes), 0);
  fc.assert(
    fc.property(journal, fc.nat(), fc.nat(), fc.nat(), fc.nat(), (whole, c, s, o, pruned) => {
      const savedUntil = 1 + (s % endOf(whole));
      const cursor = c % savedUntil;
      const saved = cutAt(whole, savedUntil).filter(({ from, bytes }) => from + bytes > cursor);
      const own = cutAt(whole, o % (endOf(whole) + 1)).slice(pruned % (whole.length + 1));
      const joined = joinJournals(own, saved, cursor);
      if (joined.kind === "gap") {
        expect(own[0]!.from).toBe(joined.until);
        expect(joined.from).toBe(savedUntil);
        expect(joined.until).toBeGreaterThan(savedUntil);
        return;
      }
      const byPosition = new Map([...own, ...joined.taken].map((segment) => [segment.from, segment]));
      const together = [...byPosition.values()].sort((left, right) => left.from - right.from);
      const needed = together.filter(({ from, bytes }) => from + bytes > cursor);
      expect(needed[0]!.from).toBeLessThanOrEqual(cursor);
      for (const [index, next] of needed.slice(1).entries()) expect(endOf([needed[index]!])).toBe(next.from);
      expect(endOf(together)).toBe(Math.max(endOf(own), savedUntil));
    }),
  );
});
