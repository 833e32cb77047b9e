import type pg from "pg";
import { LIMITS } from "../config.ts";
import { countTouches, findTouches, type TouchLookup } from "../db/touch.ts";
import type { FoundTouch, Subject, TouchMethod } from "../domain/attribution.ts";
import type { RuleBook } from "../domain/attribution-rules.ts";
import { weekOf } from "../domain/calendar.ts";
import { flagsOf, type TouchCounts } from "../domain/fraud.ts";
import type { Touch } from "../domain/touch.ts";
import type { Key } from "../domain/touch-key.ts";
import { keysOfTouch } from "../platform/link.ts";
import { LOOK_BACK_MS_MIN } from "./touches.ts";

/** One question put to the stored touches: who shares a key with this subject? */
export type Question = { appId: number; subject: Subject; keys: readonly Key[]; rules: RuleBook };

const HALF_HOUR_MS = 1_800_000;

/**
 * The candidates of many subjects, found by a few statements. Under each key the newest touches are read first, a page
 * at a time; a further page is read only while `isOpen` says that what was found does not settle the question.
 */
export async function findCandidates(
  tx: pg.PoolClient,
  questions: readonly Question[],
  isOpen: (question: Question, found: readonly FoundTouch[]) => boolean,
): Promise<FoundTouch[][]> {
  const gathered = questions.map(() => new Map<string, { touch: Touch; by: Map<TouchMethod, Set<string>> }>());
  const results: FoundTouch[][] = questions.map(() => []);
  let wanted = questions.flatMap((question, index) =>
    question.keys.map((key) => ({ index, key, lookup: lookupOf(question, key) })),
  );
  for (let page = 0; page < LIMITS.touchPages && wanted.length > 0; page += 1) {
    const counts = new Map<number, { touches: number; oldestMs: number }>();
    const rows = await findTouches(
      tx,
      wanted.map(({ lookup }) => lookup),
      LIMITS.touchesPerKey,
    );
    for (const { lookup, touch } of rows) {
      const { index, key } = wanted[lookup]!;
      const one = gathered[index]!.get(touch.touchId) ?? { touch, by: new Map() };
      gathered[index]!.set(touch.touchId, one);
      one.by.set(key.method, (one.by.get(key.method) ?? new Set()).add(key.by));
      const count = counts.get(lookup);
      counts.set(lookup, {
        touches: (count?.touches ?? 0) + 1,
        oldestMs: Math.min(count?.oldestMs ?? touch.touchedAtMs, touch.touchedAtMs),
      });
    }
    const changed = new Set(wanted.map(({ index }) => index));
    await judge(tx, questions, gathered, results, changed);
    wanted = wanted.flatMap(({ index, key, lookup }, place) => {
      const count = counts.get(place);
      const isFull = count !== undefined && count.touches >= LIMITS.touchesPerKey;
      if (!count || !isFull || !isOpen(questions[index]!, results[index]!)) return [];
      // Ties of an instant may be read twice; they are one candidate all the same.
      const untilMs = Math.min(count.oldestMs, lookup.untilMs - 1);
      return [{ index, key, lookup: { ...lookup, untilMs } }];
    });
  }
  return results;
}

function lookupOf({ appId, subject, rules }: Question, key: Key): TouchLookup {
  const fromMs = subject.atMs - Math.max(LOOK_BACK_MS_MIN, rules.longestWindowMs);
  return { appId, key: key.value, fromMs, untilMs: subject.atMs, fromWeek: weekOf(fromMs) };
}

/** Puts the flags to what was found, for the questions that have something new. */
async function judge(
  tx: pg.PoolClient,
  questions: readonly Question[],
  gathered: readonly Map<string, { touch: Touch; by: Map<TouchMethod, Set<string>> }>[],
  results: FoundTouch[][],
  changed: ReadonlySet<number>,
): Promise<void> {
  const found = [...changed].flatMap((index) => [...gathered[index]!.values()].map((one) => ({ index, ...one })));
  const counts = await countAround(
    tx,
    found.map(({ index, touch }) => ({ appId: questions[index]!.appId, rules: questions[index]!.rules, touch })),
  );
  for (const index of changed) results[index] = [];
  found.forEach(({ index, touch, by }, place) => {
    const { subject, rules } = questions[index]!;
    const matches = [...by].map(([method, names]) => ({ method, by: [...names].sort() }));
    const methods = matches.map(({ method }) => method);
    const flags = flagsOf(touch, counts[place]!, { atMs: subject.atMs, methods }, rules.of(touch.platform));
    results[index]!.push({ touch, matches, flags });
  });
}

async function countAround(
  tx: pg.PoolClient,
  touches: readonly { appId: number; rules: RuleBook; touch: Touch }[],
): Promise<TouchCounts[]> {
  const counts = touches.map(() => ({ ofAddress: 0, ofDevice: 0 }));
  let max = 0;
  const wanted = touches.flatMap(({ appId, rules, touch }, index) => {
    const { floodPerAddress, floodPerDevice } = rules.of(touch.platform);
    max = Math.max(max, floodPerAddress + 1, floodPerDevice + 1);
    const { keys, addressKey } = keysOfTouch(touch);
    const fromMs = touch.touchedAtMs - HALF_HOUR_MS;
    const hour = { appId, fromMs, untilMs: touch.touchedAtMs + HALF_HOUR_MS, fromWeek: weekOf(fromMs) };
    const devices = floodPerDevice > 0 ? keys.filter(({ method }) => method === "device_id") : [];
    return [
      ...(addressKey !== undefined && floodPerAddress > 0
        ? [{ index, of: "ofAddress" as const, key: addressKey }]
        : []),
      ...devices.map(({ value }) => ({ index, of: "ofDevice" as const, key: value })),
    ].map((one) => ({ ...one, ...hour }));
  });
  const numbers = await countTouches(tx, wanted, max);
  wanted.forEach(({ index, of }, place) => {
    counts[index]![of] = Math.max(counts[index]![of], numbers[place]!);
  });
  return counts;
}
