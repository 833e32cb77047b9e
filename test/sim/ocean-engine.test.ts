import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import { but, changed, expectRefused, get, NOW_MS, NOW_SECONDS, post, queryOf } from "./calls.ts";

let engine: OceanEngineStandIn;

beforeEach(async () => {
  engine = await startOceanEngine({ clock: () => NOW_MS });
});
afterEach(() => engine.close());

describe("event manager", () => {
  const PAY = {
    event_type: "active_pay",
    timestamp: NOW_MS,
    outer_event_id: "e-1",
    context: {
      ad: { callback: "cb-1", match_type: 0 },
      device: { platform: "android", imei: "", oaid: "raw-oaid", android_id_md5: "83e9158a4fb54c0e1ef0b238639a23ae" },
    },
    properties: { pay_amount: 600, order_id: "o-1" },
  };
  const send = (body: unknown, headers = {}) => post(`${engine.url}/api/v2/conversion`, body, headers);

  test("a payment is accepted, in fen", async () => {
    expect((await send(PAY)).json.code).toBe(0);
    expect(engine.accepted[0]).toEqual({
      platform: "bytedance",
      route: "/api/v2/conversion",
      key: "cb-1",
      code: "active_pay",
      dedupeId: "e-1",
      orderId: "o-1",
      cents: 600,
      atMs: NOW_MS,
      isDuplicate: false,
    });
  });

  test("the same outer_event_id is one event; without one, the same order_id is", async () => {
    const byOrder = but(PAY, "outer_event_id", undefined);
    for (const body of [PAY, PAY, but(PAY, "outer_event_id", "e-2"), byOrder, byOrder]) await send(body);
    expect(engine.accepted.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true, false, false, true]);
    await send(but(byOrder, "event_type", "in_app_order"));
    expect(engine.accepted.at(-1)?.isDuplicate).toBe(false);
  });

  test("a signature is checked if one is sent", async () => {
    const body = JSON.stringify(PAY);
    const signature = createHash("sha256").update(body).update(engine.secret).digest("hex");
    expect((await send(body, { "x-signature": signature })).json.code).toBe(0);
    expect((await send(body, { "x-signature": signature.replace(/.$/, "x") })).json.code).not.toBe(0);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["no event", "event_type", undefined, /event_type/],
    ["an unknown event", "event_type", "pay", /event_type pay is unknown/],
    ["a code of the older interface", "event_type", 2, /event_type/],
    ["time in seconds", "timestamp", NOW_SECONDS, /timestamp is not between/],
    ["time as a text", "timestamp", String(NOW_MS), /timestamp is not a whole number/],
    ["no callback", "context.ad.callback", undefined, /callback/],
    ["a macro that was not replaced", "context.ad.callback", "__CALLBACK_PARAM__", /callback is invalid/],
    ["an unknown match", "context.ad.match_type", 3, /match_type/],
    ["money in yuan", "properties.pay_amount", 6.5, /pay_amount is not a whole number/],
    ["an order id that is a number", "properties.order_id", 1, /order_id is not a text/],
    ["a raw imei", "context.device.imei", "860000000000000", /imei is malformed/],
    ["a hashed idfa", "context.device.idfa", "83e9158a4fb54c0e1ef0b238639a23ae", /idfa is malformed/],
    ["an unknown platform", "context.device.platform", "0", /platform 0/],
  ])("refused: %s", async (_, path, value, reason) => {
    const { json } = await send(but(PAY, path, value));
    expect([0, 128]).not.toContain(json.code);
    expectRefused(engine, reason);
  });
});

describe("the older interface", () => {
  const PAY = { callback: "cb-1", event_type: 2, conv_time: NOW_SECONDS, os: 0, props: '{"pay_amount":600}' };
  const send = (values: Record<string, string | number>) => get(`${engine.url}/track/activate/?${queryOf(values)}`);

  test("a payment is accepted, in seconds and fen, and counted as often as it is sent", async () => {
    expect((await send(PAY)).json).toMatchObject({ code: 0, ret: 0 });
    await send(PAY);
    expect(engine.accepted).toMatchObject([
      { key: "cb-1", code: "2", cents: 600, atMs: NOW_MS, isDuplicate: false },
      { isDuplicate: false },
    ]);
  });

  test.each<[string, string, string | number | undefined, RegExp]>([
    ["no callback", "callback", undefined, /callback is missing/],
    ["an unknown code", "event_type", 8, /event_type 8 is unknown/],
    ["a name of the newer interface", "event_type", "active", /event_type active is unknown/],
    ["time in milliseconds", "conv_time", NOW_MS, /conv_time is not between/],
    ["an unknown os", "os", 4, /os is not between/],
    ["money in yuan", "props", '{"pay_amount":6.5}', /pay_amount/],
    ["props that are not JSON", "props", "pay_amount=600", /props is not JSON/],
  ])("refused: %s", async (_, name, value, reason) => {
    expect((await send(changed(PAY, name, value))).json.code).not.toBe(0);
    expectRefused(engine, reason);
  });
});

describe("the gateway for WeChat mini-games", () => {
  const PAY = { clue_token: "clue,1", open_id: "o-1", union_id: "", event_type: "2", props: { pay_amount: 1 } };

  function send(body: unknown, wrong: Record<string, string> = {}) {
    const { gatewayId, gatewayToken } = engine;
    const [timestamp, nonce] = [String(NOW_SECONDS), "n1"];
    const text = [gatewayToken, timestamp, nonce].sort().join("");
    const signature = createHash("sha1").update(text).digest("hex");
    const query = queryOf({ timestamp, nonce, signature, ...wrong });
    return post(`${engine.url}/outer/wechat/applet/token/${gatewayId}?${query}`, body);
  }

  test("a payment is accepted, with the time of the call", async () => {
    expect((await send(PAY)).json).toEqual({ data: null, message: "success", status: 0 });
    expect(engine.accepted[0]).toMatchObject({ key: "clue,1", code: "2", cents: 1, atMs: NOW_MS });
  });

  test.each<[string, object, Record<string, string>, RegExp]>([
    ["a wrong signature", PAY, { signature: "0".repeat(40) }, /signature does not verify/],
    ["another nonce than the signed one", PAY, { nonce: "n2" }, /signature does not verify/],
    ["a timestamp in milliseconds", PAY, { timestamp: String(NOW_MS) }, /timestamp/],
    ["no openid", but(PAY, "open_id", ""), {}, /open_id/],
    ["no clue token", but(PAY, "clue_token", undefined), {}, /clue_token/],
    ["a code that is a number", but(PAY, "event_type", 2), {}, /event_type is missing or not a text/],
    ["an unknown code", but(PAY, "event_type", "8"), {}, /event_type 8 is unknown/],
    ["money in yuan", but(PAY, "props.pay_amount", 0.01), {}, /pay_amount/],
  ])("refused: %s", async (_, body, wrong, reason) => {
    expect((await send(body, wrong)).json.status).not.toBe(0);
    expectRefused(engine, reason);
  });
});
