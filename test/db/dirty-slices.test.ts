import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { markSlices } from "../../src/db/dirty-day.ts";
import { COHORTS } from "../../src/domain/cube.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, profile, track } from "./apply-stage.ts";
import { rowsOf } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const TODAY = "2024-06-15";
const ago = (days: number) => NOW_MS - days * DAY_MS;
const dayAgo = (days: number) => new Date(ago(days)).toISOString().slice(0, 10);
const ad = (time: number) => track("$AdShow", { $ecpm: 20, $ad_type: "reward" }, time);
const login = (time = NOW_MS) => track("login", {}, time);
const device_info = { os_name: "android", oaid: "oaid-1" };
const click = (ts: number) => stage.append("click", "", `company=vivo&oaid=oaid-1&aid=7&ts=${ts}`);

async function refreshAll(): Promise<void> {
  while ((await refreshOnce(stage.pool)) > 0);
}

/** The slices that are out of date, as `cohort day`. */
async function dirty(): Promise<string[]> {
  const { rows } = await stage.pool.query(
    "select cohort || ' ' || day as slice from dirty_day where since is not null order by 1",
  );
  return rows.map(({ slice }) => slice);
}

/** Checks that the cube equals one counted from scratch. */
async function expectExact(): Promise<void> {
  await refreshAll();
  const cube = await rowsOf(stage.pool, "cube");
  await stage.pool.query("delete from cube");
  const { rows } = await stage.pool.query<{ day: string }>(
    "select day from user_day union select registered_day from user_account union select cohort_day from user_account",
  );
  const { appId } = stage.app;
  await markSlices(
    stage.pool,
    rows.flatMap(({ day }) => COHORTS.map((cohort) => ({ appId, cohort, day }))),
    NOW_MS,
  );
  await refreshAll();
  expect(cube).toEqual(await rowsOf(stage.pool, "cube"));
}

type Case = { what: string; before: () => Promise<unknown>; batch: () => Promise<unknown>; marks: string[] };

/** Registers a user this many days ago. */
const userOf = (days: number) => () => stage.register("u", {}, { at: ago(days) });
const all = (day: string) => [`occurred ${day}`, `registered ${day}`, `touch ${day}`];

const CASES: readonly Case[] = [
  {
    what: "a new user marks the day on which it came",
    before: async () => {},
    batch: () => stage.register("u"),
    marks: all(TODAY),
  },
  {
    what: "a new user with events marks the days of these too",
    before: async () => {},
    batch: async () => {
      await stage.register("u");
      await stage.collect("u", [login(ago(3)), pay("1", 5, {}, ago(2))]);
    },
    marks: [`occurred ${dayAgo(3)}`, `occurred ${dayAgo(2)}`, ...all(TODAY)],
  },
  {
    what: "an old user who is merely active marks today, and not the day on which it came",
    before: userOf(40),
    batch: () => stage.collect("u", [login()]),
    marks: [`occurred ${TODAY}`],
  },
  {
    what: "a profile event marks nothing",
    before: userOf(8),
    batch: () => stage.collect("u", [profile("profile_set", { level: 1 })]),
    marks: [],
  },
  {
    what: "a payment after 31 days marks the day of the registration, whose windows may still be open",
    before: userOf(31),
    batch: () => stage.collect("u", [pay("1", 600)]),
    marks: [`occurred ${TODAY}`, `registered ${dayAgo(31)}`, `touch ${dayAgo(31)}`],
  },
  {
    what: "a payment after 32 days marks only the day of the touch, where all payments are",
    before: userOf(32),
    batch: () => stage.collect("u", [pay("1", 600)]),
    marks: [`occurred ${TODAY}`, `touch ${dayAgo(32)}`],
  },
  {
    what: "an ad view within the windows marks the days on which the user came",
    before: userOf(8),
    batch: () => stage.collect("u", [ad(NOW_MS)]),
    marks: [`occurred ${TODAY}`, `registered ${dayAgo(8)}`, `touch ${dayAgo(8)}`],
  },
  {
    what: "activity on a day of retention marks the days on which the user came",
    before: userOf(7),
    batch: () => stage.collect("u", [login()]),
    marks: [`occurred ${TODAY}`, `registered ${dayAgo(7)}`, `touch ${dayAgo(7)}`],
  },
  {
    what: "activity on a day between those of retention does not",
    before: userOf(8),
    batch: () => stage.collect("u", [login()]),
    marks: [`occurred ${TODAY}`],
  },
  {
    what: "a late touch marks the old day and the new one, and every day on which the user was active",
    before: async () => {
      await stage.register("u", { device_info }, { at: ago(4) });
      await stage.collect("u", [login(ago(2)), pay("1", 5, {}, ago(1))]);
    },
    batch: () => click(ago(6)),
    marks: [
      ...[`occurred ${dayAgo(4)}`, `occurred ${dayAgo(2)}`, `occurred ${dayAgo(1)}`],
      ...[`registered ${dayAgo(4)}`, `touch ${dayAgo(6)}`, `touch ${dayAgo(4)}`],
    ],
  },
  {
    what: "a touch of nobody marks nothing",
    before: userOf(4),
    batch: () => click(ago(6)),
    marks: [],
  },
  {
    what: "an order before the first one marks all later days of the user: on them nothing is the first time any more",
    before: async () => {
      await stage.register("u", {}, { at: ago(12) });
      await stage.collect("u", [pay("2", 5, {}, ago(5)), login(ago(4)), pay("3", 5, {}, ago(3))]);
    },
    batch: () => stage.collect("u", [pay("1", 5, {}, ago(9))]),
    marks: [
      ...[`occurred ${dayAgo(9)}`, `occurred ${dayAgo(5)}`, `occurred ${dayAgo(4)}`, `occurred ${dayAgo(3)}`],
      ...[`registered ${dayAgo(12)}`, `touch ${dayAgo(12)}`],
    ],
  },
  {
    what: "a registration event before the first one marks the later ones too",
    before: async () => {
      await stage.register("u", {}, { at: ago(12) });
      await stage.collect("u", [track("$MPRegister", {}, ago(5))]);
    },
    batch: () => stage.collect("u", [track("$AppRegister", {}, ago(9))]),
    marks: [
      ...[`occurred ${dayAgo(9)}`, `occurred ${dayAgo(5)}`],
      ...[`registered ${dayAgo(12)}`, `touch ${dayAgo(12)}`],
    ],
  },
  {
    what: "a rename marks nothing, for the cube knows no names",
    before: async () => {
      await stage.register("u", {}, { at: ago(8) });
      await stage.collect("u", [pay("1", 5, {}, ago(5))]);
    },
    batch: () => stage.append("reset_client_id", "u", { new_client_id: "v" }),
    marks: [],
  },
  {
    what: "what a user does after a rename in the same batch marks the days of the old name",
    before: userOf(8),
    batch: async () => {
      await stage.append("reset_client_id", "u", { new_client_id: "v" });
      await stage.collect("v", [pay("1", 5)]);
    },
    marks: [`occurred ${TODAY}`, `registered ${dayAgo(8)}`, `touch ${dayAgo(8)}`],
  },
];

test.each(CASES)("$what", async ({ before, batch, marks }) => {
  await before();
  await stage.applyAll();
  await refreshAll();
  expect(await dirty()).toEqual([]);
  await batch();
  await stage.applyAll();
  expect(await dirty()).toEqual([...marks].sort());
  await expectExact();
});

test("repeated events and orders count once", async () => {
  const send = async () => {
    await stage.register("u", {}, { at: ago(3) });
    await stage.collect("u", [login(ago(2)), pay("1", 5, {}, ago(1)), ad(ago(1) + HOUR_MS)]);
    await stage.applyAll();
    await refreshAll();
  };
  await send();
  const cube = await rowsOf(stage.pool, "cube");
  await send();
  expect(await rowsOf(stage.pool, "cube")).toEqual(cube);
  await expectExact();
});

test("a mark belongs to one app", async () => {
  const { rows } = await stage.pool.query("select distinct app_id from dirty_day");
  expect(rows).toEqual([]);
  await stage.register("u");
  await stage.applyAll();
  const marked = await stage.pool.query("select distinct app_id from dirty_day");
  expect(marked.rows).toEqual([{ app_id: stage.app.appId }]);
});
