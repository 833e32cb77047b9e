import { afterEach, expect, test } from "vitest";
import { startBilibili } from "../../sim/platforms/bilibili.ts";
import { startPlatforms } from "../../sim/platforms/platforms.ts";
import type { Failure, StandIn } from "../../sim/platforms/stand-in.ts";
import { startTencent } from "../../sim/platforms/tencent.ts";
import { get, NOW_MS, post, queryOf } from "./calls.ts";

const open: StandIn[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((standIn) => standIn.close()));
});

const ACTIVE = { conv_type: "APP_ACTIVE", conv_time: NOW_MS, client_ip: "203.0.113.9" };

async function failing(failure: Failure): Promise<{ standIn: StandIn; url: string }> {
  const standIn = await startBilibili();
  open.push(standIn);
  standIn.fail = (call) => (call === 1 ? failure : undefined);
  const query = queryOf({ ...ACTIVE, track_id: "t1" });
  return { standIn, url: `${standIn.url}/conv/api/conversion/ad/cb/v1?${query}` };
}

test.each<[Failure, number]>([
  ["reset", 0],
  ["accept_then_reset", 1],
])("%s: the connection breaks, %i counted", async (failure, counted) => {
  const { standIn, url } = await failing(failure);
  await expect(fetch(url)).rejects.toThrow();
  expect(standIn.accepted).toHaveLength(counted);
  expect((await get(url)).json.code).toBe(0);
  expect(standIn.accepted).toHaveLength(counted + 1);
  expect(standIn.calls).toBe(2);
});

test.each<[Failure, number]>([
  ["hang", 0],
  ["accept_then_hang", 1],
])("%s: no answer until the stand-in closes, %i counted", async (failure, counted) => {
  const { standIn, url } = await failing(failure);
  const answered = fetch(url).then(
    () => "answered",
    () => "broken",
  );
  await expect.poll(() => [standIn.calls, standIn.accepted.length]).toEqual([1, counted]);
  const waited = new Promise((resolve) => setTimeout(resolve, 100, "waiting"));
  expect(await Promise.race([answered, waited])).toBe("waiting");
  await standIn.close();
  expect(await answered).toBe("broken");
});

test("a server error, a page that is not JSON, a busy platform and a bad token are answered without judging", async () => {
  const seen: unknown[] = [];
  for (const failure of ["server_error", "not_json", "busy", "bad_token"] as const) {
    const { standIn, url } = await failing(failure);
    const response = await fetch(url);
    seen.push([response.status, (await response.text()).slice(0, 12), standIn.accepted.length]);
  }
  expect(seen).toEqual([
    [500, "Internal Ser", 0],
    [200, "<html>Please", 0],
    [200, '{"code":500,', 0],
    [200, '{"code":401,', 0],
  ]);
});

test("a bad token and a busy platform are reported in the platform's own words", async () => {
  const tencent = await startTencent();
  open.push(tencent);
  tencent.fail = (call) => (call === 1 ? "bad_token" : "busy");
  expect((await post(`${tencent.url}/v3.0/user_actions/add`, {})).json.code).toBe(11004);
  expect((await post(`${tencent.url}/v3.0/user_actions/add`, {})).json.code).toBe(10000);
  expect((await post(`${tencent.url}/marketing/user_actions/add`, {})).json.errcode).toBe(-1);
});

test("an unknown path and a wrong method are refused and recorded", async () => {
  const standIn = await startBilibili();
  open.push(standIn);
  expect((await get(`${standIn.url}/elsewhere`)).status).toBe(404);
  expect((await post(`${standIn.url}/conv/api/conversion/ad/cb/v1`, {})).status).toBe(405);
  expect(standIn.refused.map(({ path, reason }) => [path, reason])).toEqual([
    ["/elsewhere", "no such path"],
    ["/conv/api/conversion/ad/cb/v1", "POST is not a method of this path"],
  ]);
});

test("all platforms start, only on the loopback address, and close", async () => {
  const platforms = await startPlatforms();
  const { close, ...standIns } = platforms;
  expect(Object.keys(standIns)).toHaveLength(13);
  for (const { url } of Object.values(standIns)) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await close();
  await expect(fetch(standIns.huawei.url)).rejects.toThrow();
});

test("a click id that the platform never issued, and an unreplaced macro, are refused", async () => {
  const standIn = await startBilibili({ knowsKey: (key) => key === "known" });
  open.push(standIn);
  const call = (track_id: string) =>
    get(`${standIn.url}/conv/api/conversion/ad/cb/v1?${queryOf({ ...ACTIVE, track_id })}`);
  expect((await call("known")).json.code).toBe(0);
  expect((await call("other")).json.code).toBe(400);
  expect((await call("__TRACKID__")).json.code).toBe(400);
});
