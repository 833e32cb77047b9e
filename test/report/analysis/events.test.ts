import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventsCell } from "../../../src/contract/analysis/events.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { eventsAnswer } from "../../../src/report/analysis/events-answer.ts";
import { eventsSql } from "../../../src/report/analysis/events-sql.ts";
import { eventsUsersSql } from "../../../src/report/analysis/events-users.ts";
import { usersAnswer } from "../../../src/report/analysis/users-sql.ts";
import { openViews, type Views } from "./duck-views.ts";
import { Luck, seeds } from "./luck.ts";
import { PROPERTY_NAMES, randomMarket } from "./market.ts";
import { expectedEvents, expectedUsers } from "./oracle-events.ts";
import { randomEvents } from "./random-question.ts";

const MARKETS = 30;
const QUESTIONS = 8;

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

test("random questions about events get the answers that follow from the list of what happened", async () => {
  for (const seed of seeds(MARKETS)) {
    const luck = new Luck(seed);
    const market = randomMarket(luck);
    await views.load(market);
    for (let index = 0; index < QUESTIONS; index += 1) {
      const { question, formulas } = randomEvents(luck, market);
      const name = `market ${seed}, question ${index}: ${JSON.stringify(question)}`;
      // In some files properties are columns of their own, which makes another statement.
      const stored = new Set(index % 2 === 0 ? PROPERTY_NAMES : []);
      const answer = eventsAnswer(question, await views.run(textOf(eventsSql(question, stored))));
      expect(answer, name).toEqual(expectedEvents(market, question, formulas));
      const line = luck.of(answer.lines.filter((one) => /^[A-Z]$/.test(one.name)));
      if (!line) continue;
      const bucket = answer.buckets.length > 0 ? luck.maybe(() => luck.of(answer.buckets)) : undefined;
      const cell: EventsCell = {
        series: line.name.charCodeAt(0) - 65,
        ...(bucket !== undefined && { bucket }),
        ...(line.is_other ? { is_other: true } : { group: line.group }),
      };
      const behind = usersAnswer(await views.run(textOf(eventsUsersSql(question, cell))));
      const clients = expectedUsers(market, question, cell);
      expect(behind, `${name} ${JSON.stringify(cell)}`).toEqual({ client_ids: clients, count: clients.length });
    }
  }
});
