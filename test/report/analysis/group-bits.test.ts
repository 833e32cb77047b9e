import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventsQuestion } from "../../../src/contract/analysis/events.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { eventsAnswer } from "../../../src/report/analysis/events-answer.ts";
import { eventsSql } from "../../../src/report/analysis/events-sql.ts";
import { openViews, type Views } from "./duck-views.ts";

let views: Views;
beforeAll(async () => {
  views = await openViews();
  // Each of 300 users is in up to seven of 200 groups, and in some of them twice.
  await views.run(`create or replace table event_rows as
    select 'u' || u as client_id, case when n < 5 then 'e' else 'f' end as event, 'track' as type, date '2026-01-01' + cast(n as integer) as "day",
      '{"server": "s' || (u * n * n % 200) || '", "mode": "' || (case when u % 3 = 0 then 'solo' else 'team' end) || '"}' as properties
    from range(300) as a(u), range(8) as b(n), range(2) as c(twice) where twice = 0 or u % 2 = 0`);
});
afterAll(() => views.close());

const STORED = new Set(["server", "mode"]);

test.each<[string, Partial<EventsQuestion>]>([
  ["few of many groups are shown", { split: ["event$server"], top: 5 }],
  ["all are", { split: ["event$mode"] }],
  ["two fields", { split: ["event$server", "event$mode"], top: 100 }],
  ["the name of the event", { split: ["event"] }],
  ["an earlier range", { split: ["event$mode"], date_list: ["2026-01-03", "2026-01-04"], compare_date: "2026-01-01" }],
  [
    "a filter, and a series that counts something else",
    {
      split: ["event$server"],
      top: 3,
      series: [
        { source: "event", measure: "count" },
        {
          source: "event",
          event: "e",
          measure: "users",
          filter: { field: "event$mode", operator: "equal", values: ["solo"] },
        },
      ],
    },
  ],
  ["nothing matches", { split: ["event$server"], series: [{ source: "event", event: "never", measure: "users" }] }],
])("users by groups as bits are those of a row for each user and group: %s", async (_, asked) => {
  const question: EventsQuestion = {
    date_list: ["2026-01-01", "2026-01-08"],
    by: "total",
    series: [{ source: "event", measure: "users" }],
    ...asked,
  };
  const [plain, bits] = [textOf(eventsSql(question, new Set())), textOf(eventsSql(question, STORED))];
  expect([plain.includes("_marks"), bits.includes("_marks")]).toEqual([plain.includes("e.event as group_1"), true]);
  expect(eventsAnswer(question, await views.run(bits))).toEqual(eventsAnswer(question, await views.run(plain)));
});
