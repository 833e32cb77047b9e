import fc from "fast-check";
import { expect, test } from "vitest";
import { addDays, DAY_MS } from "../../../src/domain/calendar.ts";
import {
  type EventPart,
  EventParts,
  FOREVER,
  type PartPlan,
  type WantedDay,
} from "../../../src/domain/event/event-part.ts";

const RECEIVED = "2024-06-15";
const at = (day: string) => Date.parse(day) + DAY_MS / 2;
const wanted = (day: string, received = RECEIVED): WantedDay => ({ day, receivedAtMs: at(received) });
const open = (from: string, until: string): EventPart => ({ from, until, state: "open" });

test.each<[string, string, [string, string]]>([
  ["the day of receipt", "2024-06-15", ["2024-06-15", "2024-06-16"]],
  ["the first that is near", "2024-06-04", ["2024-06-04", "2024-06-05"]],
  ["the last that is near", "2024-06-27", ["2024-06-27", "2024-06-28"]],
  ["the last that is far, up to the near ones", "2024-06-03", ["2024-06-01", "2024-06-04"]],
  ["a day of the last months", "2024-02-29", ["2024-02-01", "2024-03-01"]],
  ["a day of the first month that has a part", "2023-05-01", ["2023-05-01", "2023-06-01"]],
  ["the day before it, up to that month", "2023-04-30", ["2023-01-01", "2023-05-01"]],
  ["a day of an old year", "2009-07-01", ["2009-01-01", "2010-01-01"]],
  ["the first day of the future that is far", "2024-06-28", ["2024-06-28", FOREVER]],
  ["a day of the far future", "2099-12-31", ["2024-06-28", FOREVER]],
])("%s, %s, goes to the part of [%s)", (_, day, [from, until]) => {
  expect(new EventParts([]).planFor(wanted(day))).toEqual({ kind: "open", from, until });
});

test("a shared part ends where its neighbours begin", () => {
  const parts = new EventParts([open("2024-02-03", "2024-02-04"), open("2024-02-20", "2024-02-21")]);
  const planOf = (day: string) => parts.planFor(wanted(day));
  expect(planOf("2024-02-01")).toEqual({ kind: "open", from: "2024-02-01", until: "2024-02-03" });
  expect(planOf("2024-02-11")).toEqual({ kind: "open", from: "2024-02-04", until: "2024-02-20" });
  expect(planOf("2024-02-21")).toEqual({ kind: "open", from: "2024-02-21", until: "2024-03-01" });
  expect(planOf("2024-02-20")).toBeUndefined();
});

test("a dropped part covers its days like an open one", () => {
  const parts = new EventParts([{ from: "2024-02-01", until: "2024-03-01", state: "dropped" }]);
  expect(parts.planFor(wanted("2024-02-20"))).toBeUndefined();
  expect(["2024-01-31", "2024-02-01", "2024-02-29", "2024-03-01"].map((day) => parts.stateOf(day))).toEqual([
    ...[undefined, "dropped", "dropped", undefined],
  ]);
});

test("the future part is split when one of its days is near, with more than a month to spare", () => {
  const parts = new EventParts([open("2024-06-28", FOREVER)]);
  expect(parts.planFor(wanted("2024-08-10"))).toBeUndefined();
  const plan = parts.planFor(wanted("2024-07-01", "2024-07-01"));
  expect(plan).toEqual({ kind: "split", part: open("2024-06-28", FOREVER), until: "2024-09-01" });
  const after = parts.after(plan!);
  expect(after.planFor(wanted("2024-07-01", "2024-07-01"))).toMatchObject({ kind: "open", from: "2024-07-01" });
  expect(after.planFor(wanted("2024-09-01", "2024-08-31"))).toMatchObject({ kind: "split", until: "2024-11-01" });
});

/** Applies each plan before the next day is looked at, as apply does. */
function enact(list: readonly WantedDay[], start: readonly EventPart[] = []): { parts: EventParts; plans: PartPlan[] } {
  let parts = new EventParts(start);
  const plans: PartPlan[] = [];
  for (const [index, one] of list.entries()) {
    for (let plan = parts.planFor(one); plan; plan = parts.planFor(one)) {
      plans.push(plan);
      parts = parts.after(plan);
      if (plan.kind === "open") continue;
      // Days with events in the part being split get their own parts.
      for (const { day } of list.slice(0, index)) {
        const moved =
          day < plan.until && parts.stateOf(day) === undefined ? parts.planFor(wanted(day, day)) : undefined;
        if (moved) plans.push(moved);
        if (moved) parts = parts.after(moved);
      }
    }
  }
  return { parts, plans };
}

const days = fc.integer({ min: 0, max: 36_524 }).map((number) => addDays("2000-01-01", number));

test("in whatever order days come, each is covered exactly once and parts never overlap", () => {
  const list = fc.array(
    fc.oneof(
      fc.record({ day: days, received: days }),
      fc.record({ day: days, distance: fc.integer({ min: -40, max: 40 }) }).map(({ day, distance }) => ({
        day,
        received: addDays(day, distance),
      })),
    ),
    { maxLength: 60 },
  );
  const legacy = fc.uniqueArray(days, { maxLength: 10 }).map((all) => all.map((day) => open(day, addDays(day, 1))));
  fc.assert(
    fc.property(list, legacy, (all, start) => {
      const { parts, plans } = enact(
        all.map(({ day, received }) => wanted(day, received)),
        start,
      );
      for (const { day } of all) expect(parts.stateOf(day)).toBe("open");
      for (const plan of plans) expect(plan.kind === "split" || plan.from < plan.until).toBe(true);
      const opened = plans.flatMap((plan) => (plan.kind === "open" && plan.until !== FOREVER ? [plan] : []));
      const ranges = [...start, ...opened].sort((left, right) => (left.from < right.from ? -1 : 1));
      for (const [index, { until }] of ranges.entries()) {
        const next = ranges[index + 1];
        if (next) expect(until <= next.from).toBe(true);
      }
    }),
  );
});

test("a century of days, received on one day, makes one part per near day, month and year", () => {
  const century = Array.from({ length: 36_525 }, (_, number) => wanted(addDays("2000-01-01", number)));
  const { plans } = enact(century);
  // 24 near days, 14 months, 24 years, one future.
  expect(plans.length).toBe(24 + 14 + 24 + 1);
  expect(enact([...century].reverse()).plans.length).toBe(plans.length);
});
