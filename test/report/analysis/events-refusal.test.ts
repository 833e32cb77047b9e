import { expect, test } from "vitest";
import { eventsQuestion } from "../../../src/contract/analysis/events.ts";
import { messageOfInvalid } from "../../../src/contract/validation.ts";
import { textOf } from "../../../src/report/analysis/duck-sql.ts";
import { eventsSql } from "../../../src/report/analysis/events-sql.ts";
import { eventsUsersSql } from "../../../src/report/analysis/events-users.ts";

const SERIES = { source: "event", event: "login", measure: "count" };
const QUESTION = { date_list: ["2026-11-01", "2026-11-07"], by: "day", series: [SERIES] };
const withFilter = (filter: unknown) => ({ series: [{ ...SERIES, filter }] });
const withSegment = (segment: unknown) => ({ segment });
const nested = (depth: number): object =>
  depth === 0 ? { field: "event", operator: "is_set" } : { join: "and", parts: [nested(depth - 1)] };

test.each<[string, object, string]>([
  ["one date", { date_list: ["2026-11-01"] }, "two dates"],
  ["a reversed range", { date_list: ["2026-11-07", "2026-11-01"] }, "is reversed"],
  ["a day that does not exist", { date_list: ["2026-02-30", "2026-03-01"] }, "dates such as"],
  ["more than a year", { date_list: ["2025-11-01", "2026-11-07"] }, "spans 372 days, and a question reads at most 366"],
  ["two months by the hour", { date_list: ["2026-10-01", "2026-11-07"], by: "hour" }, "choose fewer days, or by day"],
  ["an unknown step", { by: "minute" }, "use hour, day, week, month or total"],
  ["no series", { series: [] }, "series is empty"],
  ["eleven series", { series: Array(11).fill(SERIES) }, "more than 10 series"],
  ["an unknown source", { series: [{ source: "click", measure: "count" }] }, "use event or order"],
  ["an order with a name", { series: [{ source: "order", event: "x", measure: "count" }] }, "leave event out"],
  ["an empty name", { series: [{ source: "event", event: "", measure: "count" }] }, "event is empty"],
  ["an unknown measure", { series: [{ ...SERIES, measure: "median" }] }, "use count, users, per_user"],
  ["a sum of nothing", { series: [{ ...SERIES, measure: "sum" }] }, "name a property"],
  [
    "a sum of two things",
    { series: [{ source: "order", measure: "sum", property: "a", amount: "pay_cents" }] },
    "not both",
  ],
  ["cents of events", { series: [{ ...SERIES, measure: "sum", amount: "pay_cents" }] }, "ask for source order"],
  ["an unknown amount", { series: [{ source: "order", measure: "sum", amount: "tax" }] }, "use pay_cents"],
  ["a property with a quote", { series: [{ ...SERIES, measure: "sum", property: "a'b" }] }, "is not a property"],
  ["no percent", { series: [{ ...SERIES, measure: "percentile", property: "level" }] }, "use 0.1 to 99.9"],
  ["a fine percent", { series: [{ ...SERIES, measure: "percentile", property: "a", percent: 12.34 }] }, "one decimal"],
  ["three splits", { split: ["event", "gid", "aid"] }, "at most two fields"],
  ["an unknown split", { split: ["country"] }, "is not a field"],
  ["a split of orders", { split: ["order$currency"] }, "is a field of orders"],
  ["too many groups", { top: 101, split: ["event"] }, "use 1 to 100"],
  [
    "too many numbers",
    { top: 100, split: ["event"], by: "hour", series: [SERIES, SERIES, SERIES, SERIES, SERIES, SERIES] },
    "lower top",
  ],
  ["a later range", { compare_date: "2026-11-01" }, "choose a day before 2026-11-01"],
  ["a wrong comparison", { compare_date: "soon" }, "compare_date must hold dates"],
  ["a formula of other letters", { formulas: ["A / B"] }, "names B"],
  ["an unknown operator", withFilter({ field: "event", operator: "like", values: ["a"] }), "is not an operator"],
  ["no operator", withFilter({ field: "event" }), "is not an operator"],
  ["a condition that is none", withFilter("event = 1"), "A condition is an object"],
  ["an unknown join", withFilter({ join: "xor", parts: [] }), "use and, or or"],
  ["an empty join", withFilter({ join: "and", parts: [] }), "parts is empty"],
  ["a deep filter", withFilter(nested(5)), "more than 4 levels deep"],
  ["fifty-one conditions", withFilter({ join: "or", parts: Array(51).fill(nested(0)) }), "more than 50 conditions"],
  ["equal to nothing", withFilter({ field: "event", operator: "equal" }), "at least one value"],
  ["less than a text", withFilter({ field: "event$level", operator: "less", values: ["5"] }), "takes one number"],
  ["a number of a text", withFilter({ field: "channel", operator: "less", values: [5] }), "is a text"],
  ["truth of a text", withFilter({ field: "channel", operator: "is_true" }), "never true or false"],
  ["between one", withFilter({ field: "event$level", operator: "between", values: [5] }), "give both ends"],
  ["between two types", withFilter({ field: "event$level", operator: "between", values: [5, "9"] }), "give both ends"],
  [
    "an infinite number",
    withFilter({ field: "event$level", operator: "equal", values: [Number.POSITIVE_INFINITY] }),
    "too large",
  ],
  ["an empty part", withFilter({ field: "event", operator: "contains", values: [""] }), "none of them empty"],
  ["an unknown segment", withSegment({ kind: "was" }), "use did, did_not, user or registered"],
  [
    "a segment by events",
    withSegment({ kind: "user", field: "event$level", operator: "is_set" }),
    "a user has user$… fields",
  ],
  [
    "a segment without number",
    withSegment({ kind: "did", ...SERIES, measure: "count", operator: "less", values: [] }),
    "takes one number",
  ],
  [
    "days twice",
    withSegment({ kind: "registered", last_days: 5, date_list: ["2026-11-01", "2026-11-01"] }),
    "not both",
  ],
  ["no days", withSegment({ kind: "registered", last_days: 0 }), "use 1 to 366"],
  [
    "a year and a day of a segment",
    withSegment({ kind: "registered", date_list: ["2025-01-01", "2026-01-02"] }),
    "choose fewer days",
  ],
])("a question with %s is refused by a sentence", (_, change, sentence) => {
  const run = () => eventsSql({ ...QUESTION, ...change } as never, new Set());
  expect(run).toThrow(sentence);
  expect(run).toThrow(expect.objectContaining({ name: "ApiError", reason: "badParameter" }));
});

test.each<[object, string]>([
  [{ series: 1 }, "opens by its series"],
  [{ series: 0, bucket: "2026-11-01 10:00" }, "not one of the answer's buckets"],
  [{ series: 0, is_earlier: true }, "compares with no earlier range"],
])("a cell %j that does not exist is refused", (cell, sentence) => {
  expect(() => eventsUsersSql(QUESTION as never, cell as never)).toThrow(sentence);
});

test("the schema takes a whole question, and names what is wrong with another", () => {
  const filter = { join: "and", parts: [{ field: "event$level", operator: "at_least", values: [10] }] };
  const segment = {
    join: "or",
    parts: [
      { kind: "registered", last_days: 7 },
      { kind: "did_not", ...SERIES },
    ],
  };
  const question = { ...QUESTION, series: [{ ...SERIES, filter }], split: ["ad_platform"], segment };
  expect(messageOfInvalid(eventsQuestion, question)).toBeUndefined();
  expect(messageOfInvalid(eventsQuestion, { ...question, by: "minute" })).toBe(
    "by must be one of hour, day, week, month, total.",
  );
  const wrong = { field: "event$level", operator: "like" };
  expect(messageOfInvalid(eventsQuestion, { ...question, series: [{ ...SERIES, filter: wrong }] })).toContain(
    "series.0.filter.operator must be one of equal, not_equal",
  );
});

test("a statement is text that people can read and run", () => {
  const filter = { field: "event$level", operator: "at_least", values: [10] };
  const question = { ...QUESTION, series: [{ ...SERIES, measure: "users", filter }], split: ["ad_platform"] };
  expect(textOf(eventsSql(question as never, new Set()))).toBe(`with a as (
  select
    coalesce(u.ad_platform, '') as group_1,
    e.client_id,
    bit_or(cast(1 as ubigint) << cast(e."day" - date '2026-11-01' as ubigint)) as buckets
  from events e
  left join users u on u.client_id = e.client_id
  where e.event = 'login'
    and e."day" between date '2026-11-01' and date '2026-11-07'
    and try_cast(cast(json_extract(e.properties, '$."level"') as varchar) as double) >= 10
  group by all
  having count(*) > 0
),
shown as (
  select group_1, row_number() over (order by rank desc nulls last, group_1) as place
  from (
    select group_1, count(*) as rank from a group by all
  )
  order by place
  limit 10
),
a_lines as (
  select place, group_1, buckets
  from a
  join shown using (group_1)
  union all
  select null, '', bit_or(buckets)
  from a
  anti join shown using (group_1)
  group by client_id
)
select
  'A' as series,
  'now' as period,
  null as bucket,
  place,
  group_1,
  cast(null as bigint) as n,
  count(*) as users,
  cast(null as varchar) as number
from a_lines group by place, group_1
union all
select
  'A' as series,
  'now' as period,
  cast(date '2026-11-01' + cast(index as integer) as varchar) as bucket,
  place,
  group_1,
  cast(null as bigint) as n,
  users,
  cast(null as varchar) as number
from (
  select place, group_1, byte * 8 + bit as index, cast(sum(users) as bigint) as users
  from (
    select place, group_1, byte, (buckets >> cast(byte * 8 as ubigint)) & 255 as marks, count(*) as users
    from a_lines
    cross join range(0, 1) as b(byte)
    where (buckets >> cast(byte * 8 as ubigint)) & 255 <> 0
    group by all
  )
  cross join range(0, 8) as r(bit)
  where (marks >> cast(bit as ubigint)) & 1 = 1
  group by all
)
order by series, period, bucket nulls first, place nulls last`);
});
