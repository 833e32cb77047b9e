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

/** Whether the touches found so far leave the question open. */
type IsOpen = (question: Question, found: readonly FoundTouch[]) => boolean;

/** A key of a question, and the look-up of the touches under it. */
type Wanted = { question: number; key: Key; lookup: RangeLookup };

const HALF_HOUR_MS = 1_800_000;

/**
 * Finds the candidates of many subjects with a few statements. Under each key the newest touches are read first, a page
 * at a time; a further page is read only while `isOpen` says that the question is not settled yet.
 *
 * Loops and not closures work on the subjects, here and in what is called: see "Loops" in docs/ARCHITECTURE.md.
 */
export async function findCandidates(
  tx: pg.PoolClient,
  { questions, fresh }: { questions: readonly Question[]; fresh: FreshTouches },
  isOpen: IsOpen,
): Promise<FoundTouch[][]> {
  const results: FoundTouch[][] = [];
  const gathered: GatheredOf[] = [];
  for (const _ of questions) {
    results.push([]);
    gathered.push(new Map());
  }
  let wanted = wantedBy(questions);
  if (wanted.length === 0) return results;
  const index = new TouchIndex(tx, fresh);
  await index.prepare(lookupsOf(wanted), HALF_HOUR_MS);
  for (let page = 0; page < PAGES_MAX && wanted.length > 0; page += 1) {
    const counts = gather(gathered, wanted, await index.page(lookupsOf(wanted)));
    await judge(index, questions, gathered, { results, changed: questionsOf(wanted) });
    wanted = stillWanted(wanted, counts, { questions, results, isOpen });
  }
  return results;
}

function wantedBy(questions: readonly Question[]): Wanted[] {
  const wanted: Wanted[] = [];
  for (const [question, one] of questions.entries()) {
    for (const key of one.keys) wanted.push({ question, key, lookup: lookupOf(one, key) });
  }
  return wanted;
}

function lookupsOf(wanted: readonly Wanted[]): RangeLookup[] {
  const lookups: RangeLookup[] = [];
  for (const { lookup } of wanted) lookups.push(lookup);
  return lookups;
}

function questionsOf(wanted: readonly Wanted[]): Set<number> {
  const questions = new Set<number>();
  for (const { question } of wanted) questions.add(question);
  return questions;
}

/** How many touches a page had under a key, and the oldest instant among them. */
type PageCount = { touches: number; oldestMs: number };

/** Adds the touches of a page to what is gathered of their questions; returns what the page had under each key. */
function gather(
  gathered: readonly GatheredOf[],
  wanted: readonly Wanted[],
  page: readonly { lookup: number; touch: Touch }[],
): Map<number, PageCount> {
  const counts = new Map<number, PageCount>();
  for (const { lookup, touch } of page) {
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
  return counts;
}

/** The look-ups of a further page: of the keys whose page was full, while their question is open. */
function stillWanted(
  wanted: readonly Wanted[],
  counts: ReadonlyMap<number, PageCount>,
  { questions, results, isOpen }: { questions: readonly Question[]; results: FoundTouch[][]; isOpen: IsOpen },
): Wanted[] {
  const still: Wanted[] = [];
  for (const [number, { question, key, lookup }] of wanted.entries()) {
    const count = counts.get(number);
    if (!count || count.touches < LIMITS.touchesPerKey || !isOpen(questions[question]!, results[question]!)) continue;
    // Touches of the same instant may be read twice; each is still one candidate.
    const untilMs = Math.min(count.oldestMs, lookup.untilMs - 1);
    still.push({ question, key, lookup: { ...lookup, untilMs } });
  }
  return still;
}

function lookupOf({ appId, subject, rules, seenUntil }: Question, key: Key): RangeLookup {
  const fromMs = subject.atMs - Math.max(LIMITS.touchKeptMsMin, rules.longestWindowMs);
  return { appId, key: key.value, fromMs, untilMs: subject.atMs, seenUntil };
}

/** A touch that shares keys with the subject of a question, and by which keys. */
type Shared = { touch: Touch; by: Map<TouchMethod, Set<string>> };
/** The touches of one question, by their id. */
type GatheredOf = Map<string, Shared>;
/** The same with the question's number. */
type Gathered = Shared & { question: number };

/** Adds the fraud flags to the touches found, for the questions that have new ones. */
async function judge(
  index: TouchIndex,
  questions: readonly Question[],
  gathered: readonly GatheredOf[],
  { results, changed }: { results: FoundTouch[][]; changed: ReadonlySet<number> },
): Promise<void> {
  const found: Gathered[] = [];
  for (const question of changed) {
    results[question] = [];
    for (const { touch, by } of gathered[question]!.values()) found.push({ question, touch, by });
  }
  const counts = await countAround(index, questions, found);
  for (const [number, one] of found.entries()) {
    results[one.question]!.push(flagged(one, questions[one.question]!, counts[number]!));
  }
}

function flagged({ touch, by }: Gathered, { subject, rules }: Question, counts: TouchCounts): FoundTouch {
  const matches: FoundTouch["matches"][number][] = [];
  const methods: TouchMethod[] = [];
  for (const [method, names] of by) {
    matches.push({ method, by: [...names].sort() });
    methods.push(method);
  }
  return { touch, matches, flags: flagsOf(touch, counts, { atMs: subject.atMs, methods }, rules.of(touch.platform)) };
}

/** A count of touches around one that was found, for the question that found it. */
type Count = RangeLookup & { asked: number; of: keyof TouchCounts };

async function countAround(
  index: TouchIndex,
  questions: readonly Question[],
  found: readonly Gathered[],
): Promise<TouchCounts[]> {
  const counts: TouchCounts[] = [];
  const wanted: Count[] = [];
  let max = 0;
  for (const { question, touch } of found) {
    const asked = counts.push({ ofAddress: 0, ofDevice: 0 }) - 1;
    max = Math.max(max, wantCounts(wanted, index, { asked, question: questions[question]!, touch }));
  }
  const numbers = await index.count(wanted, max);
  for (const [number, { asked, of }] of wanted.entries()) {
    counts[asked]![of] = Math.max(counts[asked]![of], numbers[number]!);
  }
  return counts;
}

/** Adds the counts that the flags of a touch need, and returns up to which number they are to count. */
function wantCounts(
  wanted: Count[],
  index: TouchIndex,
  { asked, question, touch }: { asked: number; question: Question; touch: Touch },
): number {
  const { appId, rules, subject, seenUntil } = question;
  const { floodPerAddress, floodPerDevice } = rules.of(touch.platform);
  const fromMs = touch.touchedAtMs - HALF_HOUR_MS;
  // Touches after the registration do not count.
  const untilMs = Math.min(touch.touchedAtMs + HALF_HOUR_MS, subject.atMs + 1);
  const address = floodPerAddress > 0 ? addressKey(touch.ip) : undefined;
  if (address !== undefined) wanted.push({ asked, of: "ofAddress", appId, key: address, fromMs, untilMs, seenUntil });
  if (floodPerDevice > 0) {
    for (const { value: key } of deviceKeysOf(touch)) {
      if (!index.mayHoldMoreThan(floodPerDevice, { appId, key })) continue;
      wanted.push({ asked, of: "ofDevice", appId, key, fromMs, untilMs, seenUntil });
    }
  }
  return Math.max(floodPerAddress, floodPerDevice) + 1;
}

function deviceKeysOf({ details }: Touch): Key[] {
  return touchDeviceKeys((name) => details[name] ?? "");
}
