import { afterAll, beforeAll, expect, test } from "vitest";
import type { FunnelQuestion } from "../../../src/contract/analysis/funnel.ts";
import { segmentQuestion } from "../../../src/contract/analysis/segment.ts";
import { messageOfInvalid } from "../../../src/contract/validation.ts";
import { ask, statementOf, usersBehind } from "./asking.ts";
import { openViews, type Views } from "./duck-views.ts";
import { byBytes, Luck, seeds } from "./luck.ts";
import { randomMarket } from "./market.ts";
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

const MARKETS = 15;
const QUESTIONS = 8;

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

test("random segments have the users that follow from the list of what happened", async () => {
  for (const seed of seeds(MARKETS)) {
    const luck = new Luck(seed);
    const market = randomMarket(luck);
    await views.load(market);
    for (let index = 0; index < QUESTIONS; index += 1) {
      const question = { date_list: randomDays(luck, market), segment: randomSegment(luck, market) };
      expect(messageOfInvalid(segmentQuestion, question)).toBeUndefined();
      const isMember = membersOf(question.segment, question.date_list, market);
      const clients = market.users.map(({ client }) => client).filter(isMember);
      expect(await ask(views.run, "segment", question), `market ${seed}: ${JSON.stringify(question)}`).toEqual({
        client_ids: clients.sort(byBytes),
        count: clients.length,
      });
    }
  }
});

test("answers are right about more rows than the engine handles at once, too", async () => {
  const luck = new Luck(seeds(1)[0]!);
  const market = randomMarket(luck, 30);
  expect(market.events.length).toBeGreaterThan(2_048);
  await views.load(market);
  for (let index = 0; index < 3; index += 1) {
    const { question: events, formulas } = randomEvents(luck, market);
    expect(await ask(views.run, "events", events)).toEqual(expectedEvents(market, events, formulas));
    const funnel = randomFunnel(luck, market);
    expect(await ask(views.run, "funnel", funnel)).toEqual(expectedFunnel(market, funnel));
    const retention = randomRetention(luck, market);
    expect(await ask(views.run, "retention", retention)).toEqual(expectedRetention(market, retention));
    const distribution = randomDistribution(luck, market);
    expect(await ask(views.run, "distribution", distribution)).toEqual(expectedDistribution(market, distribution));
    const path = randomPath(luck, market);
    expect(await ask(views.run, "path", path)).toEqual(expectedPaths(market, path));
  }
});

test("users who reached a step and not the next are those who dropped", async () => {
  const luck = new Luck(1);
  const market = randomMarket(luck);
  await views.load(market);
  const question: FunnelQuestion = { ...randomFunnel(luck, market), steps: [{ source: "event" }, { source: "event" }] };
  const { groups } = await ask(views.run, "funnel", question);
  const behind = (step: number, end: "reached" | "dropped") =>
    usersBehind(views.run, "funnel", question, { step, end, kind: "all" });
  const [reached, dropped, next] = [await behind(0, "reached"), await behind(0, "dropped"), await behind(1, "reached")];
  expect(reached.count).toBe(groups[0]!.steps[0]!.users);
  expect(dropped.count).toBe(groups[0]!.steps[0]!.dropped);
  expect([...dropped.client_ids, ...next.client_ids].sort(byBytes)).toEqual(reached.client_ids);
});

test("a segment is shown as SQL that can be run as it is", () => {
  const segment = {
    join: "and" as const,
    parts: [
      {
        kind: "did" as const,
        source: "order" as const,
        measure: "count" as const,
        operator: "at_least" as const,
        values: [2],
        last_days: 7,
      },
      { kind: "user" as const, field: "ad_platform", operator: "equal" as const, values: ["kuaishou"] },
      { kind: "user" as const, field: "user$level", operator: "at_least" as const, values: [10] },
    ],
  };
  expect(
    statementOf("segment", { date_list: ["2026-11-01", "2026-11-30"], segment }),
  ).toBe(`select client_id, count(*) over () as users
from (
  select u.client_id
  from users u
  where (u.client_id in (
    select
      e.client_id
    from orders e
    where e."day" between date '2026-11-24' and date '2026-11-30'
    group by e.client_id
    having count(*) >= cast('2' as decimal(38, 6))
  ) and coalesce(u.ad_platform, '') in ('kuaishou') and try_cast(cast(json_extract(u.properties, '$."level"') as varchar) as double) >= 10)
)
group by client_id
order by client_id
limit 100000`);
});
