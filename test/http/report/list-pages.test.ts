import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { HOUR_MS, type Row } from "../fixture.ts";
import { collect, payment, register } from "./list-people.ts";
import { LISTS, type List, ReportLists } from "./report-lists.ts";

const server = sharedServer();
const lists = new ReportLists(server);

const ROWS = 45;
const IDS = Array.from({ length: ROWS }, (_, index) => `id-${String(index).padStart(2, "0")}`);
const KEY: Record<List, string> = { order: "TraceID", user: "ClientID" };

/** Records that are all alike: the same amount, time and source. */
async function appOf(list: List): Promise<App> {
  const app = await server.createApp();
  const registeredAtMs = Date.now() - HOUR_MS;
  const clients = list === "user" ? IDS : ["u"];
  await Promise.all(clients.map((id) => register(server, app, id, { active_time: registeredAtMs })));
  if (list === "order") await collect(server, app, "u", ...IDS.map((id) => payment(id, 100, {}, registeredAtMs)));
  await server.settle();
  return app;
}

/** Adds one more, which is last in an unsorted list. */
async function addOne(list: List, app: App, id: string): Promise<void> {
  if (list === "user") await register(server, app, id, { active_time: Date.now() });
  else await collect(server, app, "u", payment(id, 1, {}, Date.now() - 24 * HOUR_MS));
  await server.settle();
}

describe.each(LISTS)("pages of the %s list", (list) => {
  let app: App;
  beforeAll(async () => {
    app = await appOf(list);
  });

  const idsOf = (answer: Row): string[] => answer.list.map((record: Row) => record[KEY[list]]);
  const page = (more: Row) => lists.read(list, app, more);

  test("the first 20 are the default", async () => {
    const data = await page({});
    expect(data.page_info).toEqual({ page: 1, page_size: 20, total_number: ROWS, total_page: 3 });
    expect(data.list).toHaveLength(20);
    expect(idsOf(await page({ page: 1, page_size: 20 }))).toEqual(idsOf(data));
    expect(idsOf(await page({ page_size: 20 }))).toEqual(idsOf(data));
    expect(idsOf(await page({ page: 1 }))).toEqual(idsOf(data));
  });

  test.each([
    [1, 1, 1, 45],
    [45, 1, 1, 45],
    [46, 1, 0, 45],
    [3, 20, 5, 3],
    [4, 20, 0, 3],
    [1, 44, 44, 2],
    [2, 44, 1, 2],
    [1, 45, 45, 1],
    [2, 45, 0, 1],
    [1, 46, 45, 1],
    [1, 500, 45, 1],
    [1_000, 500, 0, 1],
  ])("page %i of %i holds %i records; there are %i pages", async (number, size, records, pages) => {
    const data = await page({ page: number, page_size: size });
    expect(data.page_info).toEqual({ page: number, page_size: size, total_number: ROWS, total_page: pages });
    expect(data.list).toHaveLength(records);
  });

  test.each([0, -1, -20, 1.5, "1", "", null, true, [1], {}])("page %j is refused with 1004", async (number) => {
    await lists.expectRefused(list, app, { page: number }, /^page must/);
  });

  test.each([0, -1, 501, 1_000, 1e300, 20.5, "20", "", null, false, [20], {}])(
    "page_size %j is refused with 1004",
    async (size) => {
      await lists.expectRefused(list, app, { page_size: size }, /^page_size must/);
    },
  );

  const sorted = (...fields: string[]) => ({ order_by_list: fields.map((field) => ({ field, sort: 1 })) });
  test.each<[string, Row]>([
    ["not sorted", {}],
    ["sorted by what all have alike", sorted("AdPlatform")],
    ["sorted by several fields that all have alike", sorted("Version", "Channel", "AdAid")],
    ["sorted by a time that all have alike", sorted("CreateTime")],
    ["filtered", { user_filtering: { ad_platform_list: ["tencent"] } }],
  ])("together hold every record exactly once: %s", async (_, more) => {
    for (const size of [7, 44]) {
      const pages = Array.from({ length: Math.ceil(ROWS / size) }, (_, index) => index + 1);
      const found: string[] = [];
      for (const number of pages) found.push(...idsOf(await page({ ...more, page: number, page_size: size })));
      expect([...found].sort(), `pages of ${size}`).toEqual(IDS);
    }
  });

  test("hold every record exactly once while others arrive between the calls", async () => {
    const busy = await appOf(list);
    const found: string[] = [];
    const added: string[] = [];
    for (let number = 1; number <= 5; number += 1) {
      const data = await lists.read(list, busy, { page: number, page_size: 10 });
      expect(data.page_info.total_number).toBe(ROWS + added.length);
      found.push(...idsOf(data));
      // Its name would sort before all others.
      added.push(`a-${number}`);
      await addOne(list, busy, `a-${number}`);
    }
    expect([...found].sort()).toEqual([...added.slice(0, 4), ...IDS]);
    const rest = await lists.read(list, busy, { page: 6, page_size: 10 });
    expect(rest.list).toEqual([]);
    expect(idsOf(await lists.read(list, busy, { page: 5, page_size: 10 })).slice(5)).toEqual(added);
  });

  test("an app without records has no pages, and an empty list", async () => {
    const empty = await server.createApp();
    const data = await lists.read(list, empty);
    expect(data.page_info).toEqual({ page: 1, page_size: 20, total_number: 0, total_page: 0 });
    expect(data.list).toEqual([]);
    expect((await lists.read(list, empty, { page: 7 })).list).toEqual([]);
  });
});
