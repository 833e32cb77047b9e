import { afterAll, beforeAll, expect, test } from "vitest";
import { distributionQuestion } from "../../../src/contract/analysis/distribution.ts";
import { messageOfInvalid } from "../../../src/contract/validation.ts";
import { distributionAnswer } from "../../../src/report/analysis/distribution-answer.ts";
import { distributionSql, distributionUsersSql } from "../../../src/report/analysis/distribution-sql.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { usersAnswer } from "../../../src/report/analysis/users-sql.ts";
import { openViews, type Views } from "./duck-views.ts";
import { Luck, seeds } from "./luck.ts";
import { randomMarket } from "./market.ts";
import { expectedDistribution, expectedDistributionUsers } from "./oracle-distribution.ts";
import { randomDistribution } from "./random-question.ts";

const MARKETS = 15;
const QUESTIONS = 6;

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

test("random distributions are those that follow from the list of what happened", async () => {
  for (const seed of seeds(MARKETS)) {
    const luck = new Luck(seed);
    const market = randomMarket(luck);
    await views.load(market);
    for (let index = 0; index < QUESTIONS; index += 1) {
      const question = randomDistribution(luck, market);
      expect(messageOfInvalid(distributionQuestion, question)).toBeUndefined();
      const name = `market ${seed}, question ${index}: ${JSON.stringify(question)}`;
      const answer = distributionAnswer(question, await views.run(textOf(distributionSql(question))));
      expect(answer, name).toEqual(expectedDistribution(market, question));
      const cell = answer.buckets.length > 0 && luck.isTrue(0.8) ? luck.of(answer.buckets) : {};
      const behind = usersAnswer(await views.run(textOf(distributionUsersSql(question, cell))));
      const clients = expectedDistributionUsers(market, question, cell);
      expect(behind, `${name} ${JSON.stringify(cell)}`).toEqual({ client_ids: clients, count: clients.length });
    }
  }
});

const QUESTION = { date_list: ["2026-11-01", "2026-11-07"], source: "event", event: "a", measure: "times" };

test.each<[string, object, string]>([
  ["an unknown measure", { measure: "hours" }, "use times, days or sum"],
  ["a sum of nothing", { measure: "sum" }, "name a property"],
  ["no edges", { edges: [] }, "edges is empty"],
  ["descending edges", { edges: [1, 3, 2] }, "2 is not above 3"],
  ["equal edges", { edges: [1, 1] }, "1 is not above 1"],
  ["a huge edge", { edges: [1e18] }, "too large"],
  ["a wrong range", { date_list: ["2026-11-01"] }, "two dates"],
])("a distribution with %s is refused", (_, change, sentence) => {
  expect(() => distributionSql({ ...QUESTION, ...change } as never)).toThrow(sentence);
});
