import type pg from "pg";
import type { RangeLookup } from "../../db/touch.ts";
import type { FoundTouch, Subject } from "../../domain/attribution/attribution.ts";
import type { RuleBook } from "../../domain/attribution/attribution-rules.ts";
import { flagsOf, type TouchCounts } from "../../domain/attribution/fraud.ts";
import type { TouchMethod } from "../../domain/attribution/method.ts";
import type { Touch } from "../../domain/attribution/touch.ts";
import { addressKey, type Key, touchDeviceKeys } from "../../domain/attribution/touch-key.ts";
import { LIMITS } from "../../limits.ts";
import type { FreshTouches } from "./fresh-touches.ts";
import { TouchIndex } from "./touch-index.ts";

const PAGES_MAX = 20;

/** One question: which touches up to `seenUntil` in the journal share a key with this subject? */
export type Question = { appId: number; subject: Subject; keys: readonly Key[]; rules: RuleBook; seenUntil: number };

const HALF_HOUR_MS = 1_800_000;

/**
 * Finds the candidates of many subjects with a few statements. Under each key the newest touches are read first, a page
 * at a time; a further page is read only while `isOpen` says that the question is not settled yet.
 */
export async function findCandidates(
  tx: pg.PoolClient,
  { questions, fresh }: { questions: readonly Question[]; fresh: FreshTouches },
  isOpen: (question: Question, found: readonly FoundTouch[]) => boolean,
): Promise<FoundTouch[][]> {
  const results: FoundTouch[][] = questions.map(() => []);
  let wanted = questions.flatMap((one, question) =>
    one.keys.map((key) => ({ question, key, lookup: lookupOf(one, key) })),
  );
  if (wanted.length === 0) return results;
  const gathered = questions.map(() => new Map<string, Omit<Gathered, "question">>());
  const index = new TouchIndex(tx, fresh);
  await index.prepare(
    wanted.map(({ lookup }) => lookup),
    HALF_HOUR_MS,
  );
  for (let page = 0; page < PAGES_MAX && wanted.length > 0; page += 1) {
    const counts = new Map<number, { touches: number; oldestMs: number }>();
    for (const { lookup, touch } of await index.page(wanted.map((one) => one.lookup))) {
      const { question, key } = wanted[lookup]!;
      const one = gathered[question]!.get(touch.touchId) ?? { touch, by: new Map() };
      gathered[question]!.set(touch.touchId, one);
      one.by.set(key.method, (one.by.get(key.method) ?? new Set()).add(key.by));
      const count = counts.get(lookup);
      counts.set(lookup, {
        touches: (count?.touches ?? 0) + 1,
        oldestMs: Math.min(count?.oldestMs ?? touch.touchedAtMs, touch.touchedAtMs),
      });
    }
    const changed = new Set(wanted.map((one) => one.question));
    await judge(index, questions, gathered, results, changed);
    wanted = wanted.flatMap(({ question, key, lookup }, number) => {
      const count = counts.get(number);
      const isFull = count !== undefined && count.touches >= LIMITS.touchesPerKey;
      if (!count || !isFull || !isOpen(questions[question]!, results[question]!)) return [];
      // Touches of the same instant may be read twice; each is still one candidate.
      const untilMs = Math.min(count.oldestMs, lookup.untilMs - 1);
      return [{ question, key, lookup: { ...lookup, untilMs } }];
    });
  }
  return results;
}

function lookupOf({ appId, subject, rules, seenUntil }: Question, key: Key): RangeLookup {
  const fromMs = subject.atMs - Math.max(LIMITS.touchKeptMsMin, rules.longestWindowMs);
  return { appId, key: key.value, fromMs, untilMs: subject.atMs, seenUntil };
}

/** A touch that shares keys with the subject of a question, by its number. */
type Gathered = { question: number; touch: Touch; by: Map<TouchMethod, Set<string>> };

/** Adds the fraud flags to the touches found, for the questions that have new ones. */
async function judge(
  index: TouchIndex,
  questions: readonly Question[],
  gathered: readonly Map<string, Omit<Gathered, "question">>[],
  results: FoundTouch[][],
  changed: ReadonlySet<number>,
): Promise<void> {
  const found: Gathered[] = [];
  for (const question of changed) {
    results[question] = [];
    for (const { touch, by } of gathered[question]!.values()) found.push({ question, touch, by });
  }
  const counts = await countAround(index, questions, found);
  found.forEach(({ question, touch, by }, number) => {
    const { subject, rules } = questions[question]!;
    const matches = [...by].map(([method, names]) => ({ method, by: [...names].sort() }));
    const methods = matches.map(({ method }) => method);
    const flags = flagsOf(touch, counts[number]!, { atMs: subject.atMs, methods }, rules.of(touch.platform));
    results[question]!.push({ touch, matches, flags });
  });
}

/** A count of touches around one that was found, for the question that found it. */
type Count = RangeLookup & { asked: number; of: keyof TouchCounts };

async function countAround(
  index: TouchIndex,
  questions: readonly Question[],
  found: readonly Gathered[],
): Promise<TouchCounts[]> {
  const counts = found.map(() => ({ ofAddress: 0, ofDevice: 0 }));
  const wanted: Count[] = [];
  let max = 0;
  // Without spreads, and with no list for each touch: this took a sixth of the time of deciding.
  found.forEach(({ question, touch }, asked) => {
    const { appId, rules, subject, seenUntil } = questions[question]!;
    const { floodPerAddress, floodPerDevice } = rules.of(touch.platform);
    max = Math.max(max, floodPerAddress + 1, floodPerDevice + 1);
    const fromMs = touch.touchedAtMs - HALF_HOUR_MS;
    // Touches after the registration do not count.
    const untilMs = Math.min(touch.touchedAtMs + HALF_HOUR_MS, subject.atMs + 1);
    const want = (of: keyof TouchCounts, key: string) =>
      wanted.push({ asked, of, appId, key, fromMs, untilMs, seenUntil });
    const address = floodPerAddress > 0 ? addressKey(touch.ip) : undefined;
    if (address !== undefined) want("ofAddress", address);
    if (floodPerDevice <= 0) return;
    for (const { value } of touchDeviceKeys((name) => touch.details[name] ?? "")) {
      if (index.mayHoldMoreThan(floodPerDevice, { appId, key: value })) want("ofDevice", value);
    }
  });
  const numbers = await index.count(wanted, max);
  wanted.forEach(({ asked, of }, number) => {
    counts[asked]![of] = Math.max(counts[asked]![of], numbers[number]!);
  });
  return counts;
}
