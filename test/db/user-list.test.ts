import { afterAll, beforeAll, expect, test } from "vitest";
import { markSlices } from "../../src/db/dirty-day.ts";
import { COHORTS } from "../../src/domain/cube.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import type { UserFilterBody } from "../../src/report/list/list-request.ts";
import { readUserList, runUserList } from "../../src/report/list/user-list.ts";
import { ApplyStage, DAY_MS, NOW_MS } from "./apply-stage.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
  for (let number = 0; number < 12; number += 1) await register(`u${number}`, number % 3);
  await stage.applyAll();
});
afterAll(() => stage.close());

const CAMPAIGN = "campaign00000001";

async function register(client: string, daysAgo: number): Promise<void> {
  const at = NOW_MS - daysAgo * DAY_MS;
  const isPaid = Number(client.slice(1)) % 2 === 0;
  const click = {
    active_time: at,
    active_ip: "",
    click_time: at,
    click_ip: "",
    click_company: "kuaishou",
    os_type: "ios",
  };
  const ids = { kuaishou: { account_id: "acc", did: "plan", aid: "ad" } };
  const named = { client_id: client, name: client, channel: `c${daysAgo}`, version: 1 };
  const source = { ...click, turbo_promoted_object_id: CAMPAIGN, ad_data: ids };
  await stage.append(isPaid ? "attributed" : "register", client, isPaid ? { ...named, ...source } : named, { at });
}

const day = (daysAgo: number) => new Date(NOW_MS - daysAgo * DAY_MS).toISOString().slice(0, 10);

const FILTERS: [UserFilterBody, number][] = [
  [{}, 12],
  [{ ad_platform_list: ["kuaishou"] }, 6],
  [{ ad_platform_list: ["natural"] }, 6],
  [{ channel_list: ["c1"] }, 4],
  [{ create_date_list: [day(1), day(0)] }, 8],
  [{ create_date_list: [day(2), day(2)], ad_platform_list: ["kuaishou"] }, 2],
  [{ turbo_promoted_object_id_list: [CAMPAIGN], advertiser_id_list: ["acc"], gid_list: ["plan"], aid_list: ["ad"] }, 6],
  [{ aid_list: ["other"] }, 0],
  // The cube does not know these filters.
  [{ version_list: [2] }, 0],
  [{ client_id_list: ["u1", "u2"] }, 2],
];

async function countAll(): Promise<number[]> {
  const counts: number[] = [];
  for (const [user_filtering] of FILTERS) {
    const body = { app_id: stage.app.appId, user_filtering, event_filtering: {} };
    const { list, page_info } = await runUserList(stage.pool, readUserList(body, stage.app), stage.app);
    expect(list).toHaveLength(page_info.total_number);
    counts.push(page_info.total_number);
  }
  return counts;
}

test("the number of users is right before the cube knows them, after it does, and while it knows some", async () => {
  const expected = FILTERS.map(([, users]) => users);
  expect(await countAll()).toEqual(expected);
  while ((await refreshOnce(stage.pool)) > 0);
  expect(await countAll()).toEqual(expected);
  await register("u12", 0);
  await register("u13", 1);
  await stage.applyAll();
  expect((await countAll())[0]).toBe(14);
});

test("a refresh stops after its time, and the next one goes on", async () => {
  const { appId } = stage.app;
  const slices = COHORTS.flatMap((cohort) => [0, 1, 2].map((ago) => ({ appId, cohort, day: day(ago) })));
  await markSlices(stage.pool, slices, NOW_MS);
  const first = await refreshOnce(stage.pool, { forMs: 0 });
  expect(first).toBeLessThan(slices.length);
  expect(first + (await refreshOnce(stage.pool))).toBe(slices.length);
});
