import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type AdReportBody, ReportClient, ReportError, signedRequest } from "../../src/client/report-client.ts";
import type { App } from "../../src/db/app.ts";
import { METRICS } from "../../src/report/metric/catalogue.ts";
import { track } from "../http/fixture.ts";
import { type DeveloperOptions, Reports, recentDays } from "../http/report/reports.ts";
import { BODY, KEY, SIGN } from "../report/sign-vector.ts";
import { sharedServer } from "../support/shared-server.ts";

const server = sharedServer();
const reports = new Reports(server);

test("the published example gets the published sign and token", () => {
  const request = signedRequest(BODY, KEY);
  expect(JSON.parse(request.body)).toEqual({ ...BODY, sign: SIGN });
  expect(request.authorization).toBe(
    [
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
      "eyJhcHBfa2V5IjoiZGVtb19hcHBfa2V5In0",
      "6AM56bHcLmB9Lv-HitX_SHCXaGuWgn1ksho-xAv6a18",
    ].join("."),
  );
});

test("a token with an expiry has it in whole seconds, and signs it too", () => {
  const { authorization } = signedRequest(BODY, KEY, { expiresAtMs: 1_800_000_000_999 });
  const [head, claims, signature] = authorization.split(".");
  expect(JSON.parse(Buffer.from(claims!, "base64url").toString())).toEqual({ app_key: KEY, exp: 1_800_000_000 });
  expect(signature).toBe(createHmac("sha256", SIGN).update(`${head}.${claims}`).digest("base64url"));
});

describe("the client", () => {
  let app: App;
  let client: ReportClient;
  const clientOf = async (options: DeveloperOptions = {}) => {
    const { appKey } = await reports.developer(options);
    return new ReportClient({ baseUrl: server.url, appKey });
  };

  beforeAll(async () => {
    app = await server.createApp();
    client = await clientOf();
    await server.register(app, "用户 1", { channel: "<a> & b" });
    await server.collect(app, "用户 1", [track("$PayEvent", { $pay_amount: 600, $order_id: "o-1" })]);
    await server.settle();
  });

  test("can let its calls expire: an expired token is refused", async () => {
    const { appKey } = await reports.developer();
    const living = (tokenLifeS: number) => new ReportClient({ baseUrl: server.url, appKey, tokenLifeS });
    expect(await living(3_600).metrics()).toHaveLength(METRICS.length);
    expect((await refusal(living(-3_600).metrics())).code).toBe(2002);
  });

  const report = (): AdReportBody => ({
    app_id: app.appId,
    date_list: recentDays(),
    metrics_list: ["AppGamePayAmountStandard"],
    dims_list: ["channel"],
    statistics_caliber: "user_activated_time",
    decimal_point: 2,
    filtering: { channel_list: ["<a> & b"] },
  });
  const list = () => ({ app_id: app.appId, user_filtering: { client_id_list: ["用户 1"] }, event_filtering: {} });

  /** The refusal of a call that must fail. */
  const refusal = async (call: Promise<unknown>): Promise<ReportError> => {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ReportError);
    return error as ReportError;
  };

  test("pulls the ad report", async () => {
    const paid = async () => (await client.adReport(report())).total[0]?.AppGamePayAmountStandard;
    await expect.poll(paid).toBe(6);
    expect(await client.adReport(report())).toEqual({
      columns: ["AppGamePayAmountStandard"],
      items: [{ channel: "<a> & b", AppGamePayAmountStandard: 6 }],
      total: [{ AppGamePayAmountStandard: 6 }],
      tips: { Payments: "Sum of the orders, less what was paid back of them." },
      static: ["Channel"],
    });
  });

  test("pulls orders and users", async () => {
    const orders = await client.orderList({ ...list(), page: 1, page_size: 500 });
    expect(orders).toMatchObject({
      page_info: { page: 1, page_size: 500, total_number: 1, total_page: 1 },
      list: [{ ClientID: "用户 1", TraceID: "o-1", Amount: 600 }],
      total: [{ Amount: 600 }],
    });
    const users = await client.userList(list());
    expect(users).toMatchObject({ page_info: { total_number: 1 }, list: [{ ClientID: "用户 1" }], total: [] });
  });

  test("lists the metrics", async () => {
    const metrics = await client.metrics();
    expect(metrics.map(({ name }) => name)).toEqual(METRICS.map(({ name }) => name));
    for (const { label, cname, unit, tip } of metrics) {
      expect([label, cname, tip]).not.toContain("");
      expect(["count", "money", "rate"]).toContain(unit);
    }
  });

  test("accepts an address with trailing slashes", async () => {
    const { appKey } = await reports.developer();
    const other = new ReportClient({ baseUrl: `${server.url}//`, appKey });
    expect((await other.userList(list())).list).toHaveLength(1);
  });

  test("throws a refusal with its code and message", async () => {
    const stranger = new ReportClient({ baseUrl: server.url, appKey: "nobody" });
    expect(await refusal(stranger.metrics())).toMatchObject({
      name: "ReportError",
      code: 2002,
      message: "sign or Authorization does not verify.",
      retryAfterS: undefined,
    });
    const granted = await clientOf({ apps: [app.appId] });
    const elsewhere = granted.userList({ ...list(), app_id: 999_999_999 });
    expect(await refusal(elsewhere)).toMatchObject({ code: 2004, retryAfterS: undefined });
    const wrong = await refusal(client.adReport({ ...report(), metrics_list: ["Nothing"] }));
    expect(wrong).toMatchObject({ code: 1004, message: expect.stringContaining("Nothing") });
    const pair = await refusal(client.adReport({ ...report(), dims_list: ["csite", "gid"] }));
    expect(pair).toMatchObject({ code: 2006, message: expect.stringMatching(/csite.*gid/) });
    expect(await refusal(client.orderList({ ...list(), page_size: 501 }))).toMatchObject({ code: 1004 });
  });

  test("says after how many seconds to try again when the rate is used up", async () => {
    const slow = await clientOf({ rate: { calls: 1, windowS: 600 } });
    await slow.userList(list());
    const error = await refusal(slow.orderList(list()));
    expect(error.code).toBe(2003);
    expect(error.retryAfterS).toBeGreaterThan(500);
    expect(error.retryAfterS).toBeLessThanOrEqual(600);
    expect(Number.isInteger(error.retryAfterS)).toBe(true);
    expect((await slow.metrics()).length, "not counted").toBeGreaterThan(0);
  });
});
