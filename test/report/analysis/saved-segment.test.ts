import { afterAll, beforeAll, expect, test } from "vitest";
import type { Analyses, AnalysisKind } from "../../../src/contract/analysis/analysis.ts";
import { type SavedRef, type Segment, segment as segmentSchema } from "../../../src/contract/analysis/segment.ts";
import { messageOfInvalid } from "../../../src/contract/validation.ts";
import { LIMITS } from "../../../src/limits.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { QUESTIONS_BY_KIND } from "../../../src/report/analysis/questions.ts";
import { checkSaved, filledIn, savedIn, segmentDays } from "../../../src/report/analysis/saved-segment.ts";
import { segmentClientsSql } from "../../../src/report/analysis/segment-sql.ts";
import { ask } from "./asking.ts";
import { openViews, type Views } from "./duck-views.ts";
import { byBytes, Luck, seeds } from "./luck.ts";
import { type Market, randomMarket } from "./market.ts";
import { expectedDistribution } from "./oracle-distribution.ts";
import { expectedEvents } from "./oracle-events.ts";
import { expectedFunnel } from "./oracle-funnel.ts";
import { expectedPaths } from "./oracle-path.ts";
import { expectedRetention } from "./oracle-retention.ts";
import { membersOf } from "./oracle-segment.ts";
import {
  randomDays,
  randomDistribution,
  randomEvents,
  randomFunnel,
  randomPath,
  randomRetention,
  randomSegment,
} from "./random-question.ts";

const MARKETS = 12;

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

/** A market in which somebody has saved three segments, each known by its id and its name. */
function marketWithSaved(luck: Luck): Market {
  const market = randomMarket(luck);
  const saved = luck.some(3, 3, () => randomSegment(luck, market));
  const entries = saved.flatMap((one, index): [SavedRef, Segment][] => [
    [index + 1, one],
    [`segment '${index}'`, one],
  ]);
  return { ...market, saved: new Map(entries) };
}

/** A saved segment alone, several, or one among other conditions. */
function randomNaming(luck: Luck, market: Market): Segment {
  const saved = (): Segment => ({ kind: "saved", segment: luck.of([...market.saved!.keys()]) });
  if (luck.isTrue(0.4)) return saved();
  const parts = [saved(), luck.isTrue() ? saved() : randomSegment(luck, market)];
  return { join: luck.of(["and", "or"]), parts };
}

/** The question as it is asked once its segments have been looked up. */
function filled<Question extends { segment?: Segment }>(question: Question, { saved }: Market): Question {
  return { ...question, segment: filledIn(question.segment!, (ref) => saved!.get(ref)!) };
}

async function asked<Kind extends Exclude<AnalysisKind, "segment">>(
  kind: Kind,
  question: Analyses[Kind]["question"],
  market: Market,
): Promise<Analyses[Kind]["answer"]> {
  expect(messageOfInvalid(QUESTIONS_BY_KIND[kind].schema, question)).toBeUndefined();
  return ask(views.run, kind, filled(question, market));
}

test("every question is answered about the users of the saved segments that it names", async () => {
  for (const seed of seeds(MARKETS)) {
    const luck = new Luck(seed);
    const market = marketWithSaved(luck);
    await views.load(market);
    const naming = () => ({ segment: randomNaming(luck, market) });
    const name = `market ${seed}`;
    const { question, formulas } = randomEvents(luck, market);
    const events = { ...question, ...naming() };
    expect(await asked("events", events, market), name).toEqual(expectedEvents(market, events, formulas));
    const funnel = { ...randomFunnel(luck, market), ...naming() };
    expect(await asked("funnel", funnel, market), name).toEqual(expectedFunnel(market, funnel));
    const retention = { ...randomRetention(luck, market), ...naming() };
    expect(await asked("retention", retention, market), name).toEqual(expectedRetention(market, retention));
    const distribution = { ...randomDistribution(luck, market), ...naming() };
    expect(await asked("distribution", distribution, market), name).toEqual(expectedDistribution(market, distribution));
    const path = { ...randomPath(luck, market), ...naming() };
    expect(await asked("path", path, market), name).toEqual(expectedPaths(market, path));
  }
});

test("the list of all users of a segment has each once, in the order of their ids", async () => {
  for (const seed of seeds(MARKETS)) {
    const luck = new Luck(seed);
    const market = marketWithSaved(luck);
    await views.load(market);
    const question = { date_list: randomDays(luck, market), segment: randomNaming(luck, market) };
    const clients = market.users
      .map(({ client }) => client)
      .filter(membersOf(question.segment, question.date_list, market))
      .sort(byBytes);
    const rows = await views.run(textOf(segmentClientsSql(filled(question, market))));
    expect(rows.map(({ client_id }) => client_id)).toEqual(clients);
    const first = await ask(views.run, "segment", { ...filled(question, market), limit: 2 });
    expect(first).toEqual({ client_ids: clients.slice(0, 2), count: clients.length });
  }
});

const PAID: Segment = { kind: "did", source: "order", measure: "count", operator: "at_least", values: [2] };

function nested(depth: number, leaf: Segment): Segment {
  return depth === 0 ? leaf : { join: "and", parts: [nested(depth - 1, leaf)] };
}

test("conditions as deep as people may write them can be saved, and named as deep again", () => {
  const deepest = nested(LIMITS.analysisDepth, PAID);
  expect(messageOfInvalid(segmentSchema, deepest)).toBeUndefined();
  expect(messageOfInvalid(segmentSchema, nested(LIMITS.analysisDepth + 1, PAID))).toBeDefined();
  checkSaved(deepest);
  const naming = nested(LIMITS.analysisDepth, { kind: "saved", segment: 1 });
  expect(savedIn(naming)).toEqual([1]);
  const days = ["2026-11-01", "2026-11-02"];
  const text = textOf(segmentClientsSql({ segment: filledIn(naming, () => deepest), date_list: days }));
  expect(text).toContain("having count(*) >= cast('2' as decimal(38, 6))");
});

test.each<[string, Segment, RegExp]>([
  [
    "another saved segment",
    { join: "and", parts: [PAID, { kind: "saved", segment: "x" }] },
    /cannot use another saved/,
  ],
  ["an unknown field", { kind: "user", field: "colour", operator: "is_set" }, /colour/],
  ["two numbers where one is compared", { ...PAID, values: [1, 2] }, /takes one number/],
  ["days twice", { ...PAID, last_days: 7, date_list: ["2026-01-01", "2026-01-02"] }, /not both/],
  ["an event name of orders", { ...PAID, event: "x" }, /Orders have no event name/],
  ["too many conditions", { join: "or", parts: Array.from({ length: 51 }, () => PAID) }, /more than 50 conditions/],
])("what no question could use is not saved: %s", (_, condition, sentence) => {
  expect(() => checkSaved(condition)).toThrow(sentence);
});

test("too many conditions are refused, however many segments they come from", () => {
  const half: Segment = { join: "or", parts: Array.from({ length: 26 }, () => PAID) };
  const both: Segment = { join: "and", parts: [half, half] };
  expect(() => segmentClientsSql({ segment: both, date_list: ["2026-01-01", "2026-01-02"] })).toThrow(/more than 50/);
});

test("without days of their own, conditions of lists and exports are about the last days up to today", () => {
  const nowMs = Date.parse("2026-11-17T20:00:00Z");
  expect(segmentDays(undefined, { timeZone: "Asia/Shanghai", nowMs })).toEqual(["2026-10-20", "2026-11-18"]);
  expect(segmentDays(undefined, { timeZone: "UTC", nowMs })).toEqual(["2026-10-19", "2026-11-17"]);
  expect(segmentDays(["2026-01-01", "2026-01-02"], { timeZone: "UTC", nowMs })).toEqual(["2026-01-01", "2026-01-02"]);
});
