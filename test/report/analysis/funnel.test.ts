import { afterAll, beforeAll, expect, test } from "vitest";
import { type FunnelCell, funnelQuestion } from "../../../src/contract/analysis/funnel.ts";
import { messageOfInvalid } from "../../../src/contract/validation.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { funnelAnswer } from "../../../src/report/analysis/funnel-answer.ts";
import { funnelSql, funnelUsersSql } from "../../../src/report/analysis/funnel-sql.ts";
import { usersAnswer } from "../../../src/report/analysis/users-sql.ts";
import { openViews, type Views } from "./duck-views.ts";
import { Luck, seeds } from "./luck.ts";
import { type Event, type Market, randomMarket } from "./market.ts";
import { expectedFunnel, expectedFunnelUsers } from "./oracle-funnel.ts";
import { randomFunnel } from "./random-question.ts";

const MARKETS = 20;
const QUESTIONS = 6;

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

test("random funnels get the answers that follow from the list of what happened", async () => {
  for (const seed of seeds(MARKETS)) {
    const luck = new Luck(seed);
    const market = randomMarket(luck);
    await views.load(market);
    for (let index = 0; index < QUESTIONS; index += 1) {
      const question = randomFunnel(luck, market);
      expect(messageOfInvalid(funnelQuestion, question)).toBeUndefined();
      const name = `market ${seed}, question ${index}: ${JSON.stringify(question)}`;
      const answer = funnelAnswer(question, await views.run(textOf(funnelSql(question))));
      expect(answer, name).toEqual(expectedFunnel(market, question));
      const { kind, group } = luck.of(answer.groups);
      const step = luck.below(question.steps.length);
      const end = step === question.steps.length - 1 ? "reached" : luck.of(["reached", "dropped"] as const);
      const cell: FunnelCell = { step, end, kind, ...(kind === "group" && { group }) };
      const behind = usersAnswer(await views.run(textOf(funnelUsersSql(question, cell))));
      const clients = expectedFunnelUsers(market, question, cell);
      expect(behind, `${name} ${JSON.stringify(cell)}`).toEqual({ client_ids: clients, count: clients.length });
    }
  }
});

const NOON = Date.parse("2026-11-10T12:00:00Z");
const MINUTE_MS = 60_000;

/** Events of one user: names with minutes after noon. */
async function reached(steps: (string | undefined)[], happened: [string, number][], minutes = 60): Promise<number> {
  const events = happened.map(
    ([event, minute], index): Event => ({
      client: "u",
      event,
      type: "track",
      ms: NOON + minute * MINUTE_MS,
      receivedMs: NOON,
      properties: {},
      id: `00000000-0000-4000-8000-00000000000${index}`,
    }),
  );
  const market: Market = { zone: "UTC", fromDay: "2026-11-10", toDay: "2026-11-10", events, orders: [], users: [] };
  await views.load(market);
  const question = {
    date_list: ["2026-11-10", "2026-11-10"],
    steps: steps.map((event) => ({ source: "event" as const, ...(event !== undefined && { event }) })),
    window_minutes: minutes,
  };
  const { groups } = funnelAnswer(question, await views.run(textOf(funnelSql(question))));
  return groups[0]!.steps.filter(({ users }) => users > 0).length;
}

test("different events may happen in the same millisecond", async () => {
  expect(
    await reached(
      ["a", "b"],
      [
        ["a", 0],
        ["b", 0],
      ],
    ),
  ).toBe(2);
  expect(
    await reached(
      ["a", "b", "c"],
      [
        ["c", 0],
        ["b", 0],
        ["a", 0],
      ],
    ),
  ).toBe(3);
});

test("one event is never two steps", async () => {
  expect(await reached(["a", "a"], [["a", 0]])).toBe(1);
  expect(await reached(["a", undefined], [["a", 0]])).toBe(1);
  expect(
    await reached(
      ["a", "b", "a"],
      [
        ["a", 0],
        ["b", 0],
      ],
    ),
  ).toBe(1);
  expect(
    await reached(
      ["a", "a"],
      [
        ["a", 0],
        ["a", 1],
      ],
    ),
  ).toBe(2);
});

test("the window begins at the first step, and its last millisecond belongs to it", async () => {
  expect(
    await reached(
      ["a", "b"],
      [
        ["a", 0],
        ["b", 60],
      ],
    ),
  ).toBe(2);
  expect(
    await reached(
      ["a", "b"],
      [
        ["a", 0],
        ["b", 60 + 1 / MINUTE_MS],
      ],
    ),
  ).toBe(1);
  expect(
    await reached(
      ["a", "b", "c"],
      [
        ["a", 0],
        ["b", 50],
        ["c", 70],
      ],
    ),
  ).toBe(2);
});

test("a later entry counts when it gets further", async () => {
  expect(
    await reached(
      ["a", "b", "c"],
      [
        ["a", 0],
        ["b", 10],
        ["a", 20],
        ["b", 30],
        ["c", 75],
      ],
    ),
  ).toBe(3);
});

test("steps after the last day count within the window", async () => {
  expect(
    await reached(
      ["a", "b"],
      [
        ["a", 700],
        ["b", 730],
      ],
    ),
  ).toBe(2);
});

const STEP = { source: "event", event: "a" };
const FUNNEL = { date_list: ["2026-11-01", "2026-11-07"], steps: [STEP, STEP], window_minutes: 60 };

test.each<[string, object, string]>([
  ["one step", { steps: [STEP] }, "at least two steps: add one"],
  ["eleven steps", { steps: Array(11).fill(STEP) }, "at most 10 steps"],
  ["no window", { window_minutes: 0 }, "use 1 to 129600"],
  ["half a minute", { window_minutes: 0.5 }, "use 1 to 129600"],
  ["an empty range", { date_list: [] }, "two dates"],
  ["a wrong step", { steps: [STEP, { source: "click" }] }, "use event or order"],
  ["a split of orders", { split: "order$currency" }, "is a field of orders"],
])("a funnel with %s is refused", (_, change, sentence) => {
  expect(() => funnelSql({ ...FUNNEL, ...change } as never)).toThrow(sentence);
});

test.each<[object, string]>([
  [{ step: 2, end: "reached", kind: "all" }, "There is no step 2"],
  [{ step: 1, end: "dropped", kind: "all" }, "Nobody drops after the last step"],
  [{ step: 0, end: "reached", kind: "group", group: "x" }, "is not split"],
])("users of a cell %j that does not exist are refused", (cell, sentence) => {
  expect(() => funnelUsersSql(FUNNEL as never, cell as never)).toThrow(sentence);
});
