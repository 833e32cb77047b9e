import { afterAll, beforeAll, expect, test } from "vitest";
import { type RetentionCell, retentionQuestion } from "../../../src/contract/analysis/retention.ts";
import { messageOfInvalid } from "../../../src/contract/validation.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { retentionAnswer } from "../../../src/report/analysis/retention-answer.ts";
import { retentionSql, retentionUsersSql } from "../../../src/report/analysis/retention-sql.ts";
import { usersAnswer } from "../../../src/report/analysis/users-sql.ts";
import { openViews, type Views } from "./duck-views.ts";
import { Luck, seeds } from "./luck.ts";
import { randomMarket } from "./market.ts";
import { expectedRetention, expectedRetentionUsers } from "./oracle-retention.ts";
import { randomRetention } from "./random-question.ts";

const MARKETS = 20;
const QUESTIONS = 6;

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

test("random questions about retention get the answers that follow from the list of what happened", async () => {
  for (const seed of seeds(MARKETS)) {
    const luck = new Luck(seed);
    const market = randomMarket(luck);
    await views.load(market);
    for (let index = 0; index < QUESTIONS; index += 1) {
      const question = randomRetention(luck, market);
      expect(messageOfInvalid(retentionQuestion, question)).toBeUndefined();
      const name = `market ${seed}, question ${index}: ${JSON.stringify(question)}`;
      const answer = retentionAnswer(question, await views.run(textOf(retentionSql(question))));
      expect(answer, name).toEqual(expectedRetention(market, question));
      const { kind, group, cohorts } = luck.of(answer.groups);
      const cohort = luck.maybe(() => luck.of(cohorts).cohort);
      const period = luck.maybe(() => luck.between(0, question.periods), 0.7);
      const cell: RetentionCell = {
        kind,
        ...(kind === "group" && { group }),
        ...(cohort !== undefined && { cohort }),
        ...(period !== undefined && { period }),
      };
      const behind = usersAnswer(await views.run(textOf(retentionUsersSql(question, cell))));
      const clients = expectedRetentionUsers(market, question, cell);
      expect(behind, `${name} ${JSON.stringify(cell)}`).toEqual({ client_ids: clients, count: clients.length });
    }
  }
});

const SOURCE = { source: "event", event: "a" };
const QUESTION = { date_list: ["2026-11-01", "2026-11-07"], by: "day", periods: 7, first: SOURCE, back: SOURCE };

test.each<[string, object, string]>([
  ["months", { by: "month" }, "use day or week"],
  ["no periods", { periods: 0 }, "use 1 to 90"],
  ["a reversed range", { date_list: ["2026-11-07", "2026-11-01"] }, "is reversed"],
  ["a wrong return", { back: { source: "order", event: "a" } }, "leave event out"],
  ["a value of nothing", { value: { measure: "sum" } }, "name a property"],
  ["cents of events", { value: { measure: "sum", amount: "pay_cents" } }, "ask for source order"],
  ["an unknown value", { value: { measure: "mean" } }, "use count or sum"],
  ["too many numbers", { date_list: ["2026-01-01", "2026-11-07"], periods: 90, split: "gid", top: 100 }, "lower top"],
])("a question with %s is refused", (_, change, sentence) => {
  expect(() => retentionSql({ ...QUESTION, ...change } as never)).toThrow(sentence);
});

test.each<[object, string]>([
  [{ kind: "all", period: 8 }, "There is no period 8: the last is 7"],
  [{ kind: "all", cohort: "today" }, "is not a cohort"],
  [{ kind: "other" }, "is not split"],
])("users of a cell %j that does not exist are refused", (cell, sentence) => {
  expect(() => retentionUsersSql(QUESTION as never, cell as never)).toThrow(sentence);
});
