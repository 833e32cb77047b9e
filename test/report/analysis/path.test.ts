import { afterAll, beforeAll, expect, test } from "vitest";
import { type PathCell, pathQuestion } from "../../../src/contract/analysis/path.ts";
import { messageOfInvalid } from "../../../src/contract/validation.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { pathAnswer } from "../../../src/report/analysis/path-answer.ts";
import { pathSql, pathUsersSql } from "../../../src/report/analysis/path-sql.ts";
import { usersAnswer } from "../../../src/report/analysis/users-sql.ts";
import { openViews, type Views } from "./duck-views.ts";
import { Luck, seeds } from "./luck.ts";
import { randomMarket } from "./market.ts";
import { expectedPaths, expectedPathUsers } from "./oracle-path.ts";
import { randomPath } from "./random-question.ts";

const MARKETS = 15;
const QUESTIONS = 6;

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

test("random paths are those that follow from the list of what happened", async () => {
  for (const seed of seeds(MARKETS)) {
    const luck = new Luck(seed);
    const market = randomMarket(luck);
    await views.load(market);
    for (let index = 0; index < QUESTIONS; index += 1) {
      const question = randomPath(luck, market);
      expect(messageOfInvalid(pathQuestion, question)).toBeUndefined();
      const name = `market ${seed}, question ${index}: ${JSON.stringify(question)}`;
      const answer = pathAnswer(question, await views.run(textOf(pathSql(question))));
      expect(answer, name).toEqual(expectedPaths(market, question));
      const nodes = answer.nodes.filter(({ is_other }) => !is_other);
      if (nodes.length === 0) continue;
      const { level, event } = luck.of(nodes);
      const next = nodes.filter((node) => node.level === level + 1);
      const to = next.length > 0 ? luck.maybe(() => luck.of(next).event) : undefined;
      const cell: PathCell = { level, event, ...(to !== undefined && { to }) };
      const behind = usersAnswer(await views.run(textOf(pathUsersSql(question, cell))));
      const clients = expectedPathUsers(market, question, cell);
      expect(behind, `${name} ${JSON.stringify(cell)}`).toEqual({ client_ids: clients, count: clients.length });
    }
  }
});

const QUESTION = {
  date_list: ["2026-11-01", "2026-11-07"],
  event: "a",
  direction: "after",
  gap_minutes: 30,
  levels: 3,
};

test.each<[string, object, string]>([
  ["no event", { event: "" }, "event is empty"],
  ["a wrong direction", { direction: "up" }, "use after or before"],
  ["no gap", { gap_minutes: 0 }, "use 1 to 1440"],
  ["no levels", { levels: 0 }, "use 1 to 10"],
  ["too many events", { top: 21 }, "use 1 to 20"],
  ["a field of orders", { filter: { field: "order$currency", operator: "is_set" } }, "is a field of orders"],
  ["a wrong range", { date_list: ["2026-11-07", "2026-11-01"] }, "is reversed"],
])("a path with %s is refused", (_, change, sentence) => {
  expect(() => pathSql({ ...QUESTION, ...change } as never)).toThrow(sentence);
});

test("users of a level that does not exist are refused", () => {
  expect(() => pathUsersSql(QUESTION as never, { level: 3, event: "a", to: "b" })).toThrow("There is no level 3");
});
