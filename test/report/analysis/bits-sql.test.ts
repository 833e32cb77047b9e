import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventsQuestion } from "../../../src/contract/analysis/events.ts";
import { bitsOf, countBits, fitsBits } from "../../../src/report/analysis/bits-sql.ts";
import { duck, named, textOf, withTables } from "../../../src/report/analysis/duck-sql.ts";
import { ask, statementOf } from "./asking.ts";
import { openViews, type Views } from "./duck-views.ts";

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

test("users are counted in each of 64 buckets, the first and the last too", async () => {
  // User u is in every bucket that u divides, and twice in each.
  const table = duck`select u as client_id, u % 2 as odd, ${bitsOf(duck`i`)} as bits
from range(1, 100) as n(u), range(0, 64) as b(i), range(0, 2) as twice(t)
where i % u = 0
group by all`;
  const counted = countBits({ table: duck`marked`, bits: duck`bits`, keys: [duck`odd`], buckets: 64 });
  const rows = await views.run(textOf(withTables([{ name: named("marked"), of: table }], counted)));
  const found = new Map(rows.map(({ odd, index, users }) => [`${odd} ${index}`, Number(users)]));
  for (let index = 0; index < 64; index += 1) {
    for (const odd of [0, 1]) {
      const users = Array.from({ length: 99 }, (_, at) => at + 1).filter((u) => u % 2 === odd && index % u === 0);
      expect(found.get(`${odd} ${index}`) ?? 0).toBe(users.length);
    }
  }
  expect([fitsBits(64), fitsBits(65)]).toEqual([true, false]);
});

const DAYS = Array.from({ length: 65 }, (_, at) => new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10));

test.each([64, 65])("users of each of %i days are counted, whether they fit into one number or not", async (days) => {
  const events = DAYS.flatMap((day, at) => ["a", "b"].slice(0, (at % 2) + 1).map((clientId) => ({ clientId, day })));
  await views.run('create or replace table event_rows (client_id varchar, event varchar, type varchar, "day" date)');
  for (const { clientId, day } of events)
    await views.run(`insert into event_rows values ('${clientId}', 'e', 'track', date '${day}')`);
  const question: EventsQuestion = {
    date_list: [DAYS[0]!, DAYS[days - 1]!],
    by: "day",
    series: [{ source: "event", event: "e", measure: "users" }],
  };
  expect(statementOf("events", question).includes("bit_or")).toBe(days <= 64);
  const [line] = (await ask(views.run, "events", question)).lines;
  expect(line!.values).toEqual(DAYS.slice(0, days).map((_, at) => (at % 2) + 1));
  expect(line!.total).toBe(2);
});
