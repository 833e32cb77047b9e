import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { signedRequest } from "../../../src/client/report-client.ts";
import type { App } from "../../../src/db/app.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import type { Row } from "../fixture.ts";
import { AGE_HEADER, adReportOf, listOf, Reports } from "./reports.ts";

const server = sharedServer();
const reports = new Reports(server);

let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

const CALLS = (): [string, Row][] => [
  ["combo_sql", adReportOf(app)],
  ["order/list", listOf(app)],
  ["user/list", listOf(app)],
];
const numberIn = ({ headers }: Answer, name: string) => Number(headers.get(name) ?? Number.NaN);

test("the three reports share one count, and each answer says how much of it is left", async () => {
  const developer = await reports.developer({ rate: { calls: 3, windowS: 600 } });
  for (const [index, [path, body]] of CALLS().entries()) {
    const answer = await reports.call(developer, path, body);
    expect(answer).toMatchObject({ status: 200, code: 0 });
    expect(answer.headers.get("ratelimit-limit")).toBe("3");
    expect(answer.headers.get("ratelimit-remaining")).toBe(String(2 - index));
    expect(numberIn(answer, "ratelimit-reset")).toBeGreaterThan(500);
    expect(numberIn(answer, "ratelimit-reset")).toBeLessThanOrEqual(600);
    expect(answer.headers.get("retry-after")).toBeNull();
  }
  for (const [path, body] of CALLS()) {
    const answer = await reports.call(developer, path, body);
    expect(answer).toMatchObject({ status: 200, code: 2003, msg: expect.stringContaining("3 calls in 600 s") });
    expect(answer.data).toEqual({});
    expect(answer.extra.error).toBe(answer.msg);
    expect(answer.headers.get("ratelimit-limit")).toBe("3");
    expect(answer.headers.get("ratelimit-remaining")).toBe("0");
    expect(answer.headers.get("retry-after")).toBe(answer.headers.get("ratelimit-reset"));
    expect(numberIn(answer, "retry-after")).toBeGreaterThan(500);
    expect(numberIn(answer, "retry-after")).toBeLessThanOrEqual(600);
    expect(answer.headers.get(AGE_HEADER)).toMatch(/^\d+$/);
  }
});

test("the list of metrics is not counted", async () => {
  const developer = await reports.developer({ rate: { calls: 1, windowS: 600 } });
  const metrics = async () => {
    const answer = await reports.call(developer, "metrics/list", {});
    expect(answer).toMatchObject({ status: 200, code: 0 });
    expect(answer.headers.get("ratelimit-limit")).toBeNull();
  };
  await metrics();
  expect(await reports.call(developer, "combo_sql", adReportOf(app))).toMatchObject({ code: 0 });
  expect(await reports.call(developer, "user/list", listOf(app))).toMatchObject({ code: 2003 });
  await metrics();
});

test("a caller over the rate is served again after Retry-After, and nobody else has to wait", async () => {
  const [developer, other] = [
    await reports.developer({ rate: { calls: 1, windowS: 3 } }),
    await reports.developer({ rate: { calls: 1, windowS: 600 } }),
  ];
  expect(await reports.call(developer, "order/list", listOf(app))).toMatchObject({ code: 0 });
  // If the machine takes longer than the window between two calls, both are served, so the test tries again.
  const refused = await eventually(async () => {
    const answer = await reports.call(developer, "order/list", listOf(app));
    expect(answer).toMatchObject({ code: 2003 });
    return answer;
  });
  expect(await reports.call(other, "order/list", listOf(app))).toMatchObject({ code: 0 });
  expect(numberIn(refused, "retry-after")).toBeLessThanOrEqual(3);
  await sleep(numberIn(refused, "retry-after") * 1000);
  expect(await reports.call(developer, "order/list", listOf(app))).toMatchObject({ code: 0 });
});

test("of simultaneous calls no more are served than the rate allows", async () => {
  const developer = await reports.developer({ rate: { calls: 2, windowS: 600 } });
  const calls = Array.from({ length: 6 }, () => reports.call(developer, "user/list", listOf(app)));
  const codes = (await Promise.all(calls)).map(({ code }) => code);
  expect(codes.sort()).toEqual([0, 0, 2003, 2003, 2003, 2003]);
});

test("a refused call does not count", async () => {
  const developer = await reports.developer({ apps: [app.appId], rate: { calls: 1, windowS: 600 } });
  const reversed = { date_list: ["2026-11-02", "2026-11-01"] };
  const refusals: [string, Row, number][] = [
    ["combo_sql", adReportOf(app, { decimal_point: 3 }), 1004],
    ["combo_sql", adReportOf(app, reversed), 1004],
    ["combo_sql", adReportOf(app, { metrics_list: ["Nothing"] }), 1004],
    ["combo_sql", adReportOf(app, { dims_list: ["csite", "gid"] }), 2006],
    ["combo_sql", adReportOf({ appId: 999_999_999 }), 2004],
    ["order/list", listOf(app, { page_size: 501 }), 1004],
    ["order/list", listOf(app, { order_by_list: [{ field: "Nothing", sort: 1 }] }), 1004],
    ["user/list", listOf(app, { page: 0 }), 1004],
    ["user/list", { app_id: app.appId }, 1004],
  ];
  for (const [path, body, code] of refusals) {
    const answer = await reports.call(developer, path, body);
    expect(answer).toMatchObject({ status: 200, code });
    expect(["1", null], "what is left").toContain(answer.headers.get("ratelimit-remaining"));
  }
  expect(await reports.call({ appKey: `${developer.appKey}0` }, "combo_sql", adReportOf(app))).toMatchObject({
    code: 2002,
  });
  expect(await reports.send("combo_sql", "{", {})).toMatchObject({ status: 200, code: 1001 });
  const served = await reports.call(developer, "combo_sql", adReportOf(app));
  expect(served).toMatchObject({ code: 0 });
  expect(served.headers.get("ratelimit-remaining")).toBe("0");
  expect(await reports.call(developer, "combo_sql", adReportOf(app))).toMatchObject({ code: 2003 });
});

test("an invalid call, or one for another app, is refused as such even when the rate is used up", async () => {
  const developer = await reports.developer({ apps: [app.appId], rate: { calls: 1, windowS: 600 } });
  expect(await reports.call(developer, "user/list", listOf(app))).toMatchObject({ code: 0 });
  expect(await reports.call(developer, "combo_sql", adReportOf({ appId: 999_999_999 }))).toMatchObject({ code: 2004 });
  expect(await reports.call(developer, "combo_sql", adReportOf(app, { decimal_point: 3 }))).toMatchObject({
    code: 1004,
  });
  const wrong: [Row, number][] = [
    [{ metrics_list: ["Nothing"] }, 1004],
    [{ date_list: ["2026-11-15", "2026-11-01"] }, 1004],
    [{ dims_list: ["csite", "gid"] }, 2006],
  ];
  for (const [more, code] of wrong) {
    expect(await reports.call(developer, "combo_sql", adReportOf(app, more))).toMatchObject({ code });
  }
  for (const more of [{ page: 0 }, { order_by_list: [{ field: "Nothing", sort: 0 }] }]) {
    expect(await reports.call(developer, "order/list", listOf(app, more))).toMatchObject({ code: 1004 });
    expect(await reports.call(developer, "user/list", listOf(app, more))).toMatchObject({ code: 1004 });
  }
  expect(await reports.call(developer, "combo_sql", adReportOf(app))).toMatchObject({ code: 2003 });
});

test("a bad call never takes the place of a good one", async () => {
  for (let round = 0; round < 10; round += 1) {
    const developer = await reports.developer({ apps: [app.appId], rate: { calls: 1, windowS: 600 } });
    const answers = await Promise.all([
      reports.call(developer, "combo_sql", adReportOf(app, { metrics_list: ["Nothing"] })),
      reports.call(developer, "combo_sql", adReportOf(app)),
    ]);
    expect(answers.map(({ code }) => code)).toEqual([1004, 0]);
  }
});

test("a body that would be costly to verify is refused first", async () => {
  const developer = await reports.developer({ apps: [app.appId] });
  const deep = `{"sign":"x","a":${"[".repeat(5000)}${"]".repeat(5000)}}`;
  const long = JSON.stringify({ sign: "x", a: Array(400_000).fill(0) });
  const { authorization } = signedRequest({}, developer.appKey);
  for (const body of [deep, long]) expect(await reports.send("combo_sql", body, {})).toMatchObject({ code: 2002 });
  expect(await reports.send("combo_sql", deep, { authorization })).toMatchObject({ code: 1004 });
  expect(await reports.send("combo_sql", long, { authorization })).toMatchObject({ code: 1413, status: 413 });
});

test("every refusal of the ad report has its own id and gives the error twice", async () => {
  const developer = await reports.developer({ apps: [app.appId], rate: { calls: 1, windowS: 600 } });
  const call = (more: Row = {}) => reports.call(developer, "combo_sql", adReportOf(app, more));
  const answers = [
    await reports.send("combo_sql", "{", {}),
    await reports.call({ appKey: "nobody" }, "combo_sql", adReportOf(app)),
    await reports.call(developer, "combo_sql", adReportOf({ appId: 999_999_999 })),
    await call({ decimal_point: 3 }),
    await call({ date_list: ["x", "y"] }),
    await call({ dims_list: ["csite", "gid"] }),
    await call(),
    await call(),
  ];
  expect(answers.map(({ code }) => code)).toEqual([1001, 2002, 2004, 1004, 1004, 2006, 0, 2003]);
  for (const { status, code, msg, extra } of answers) {
    expect({ status, extra }).toEqual({
      status: 200,
      extra: { error: code === 0 ? "" : msg, request_id: expect.stringMatching(/./) },
    });
  }
  expect(new Set(answers.map(({ extra }) => extra.request_id)).size).toBe(answers.length);
});
