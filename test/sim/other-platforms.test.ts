import { createCipheriv, createHash, createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startBilibili } from "../../sim/platforms/bilibili.ts";
import { type HuaweiStandIn, startHuawei } from "../../sim/platforms/huawei.ts";
import { type OppoStandIn, startOppo } from "../../sim/platforms/oppo.ts";
import type { StandIn } from "../../sim/platforms/stand-in.ts";
import { startVivo, type VivoStandIn } from "../../sim/platforms/vivo.ts";
import { startXiaomi, type XiaomiStandIn } from "../../sim/platforms/xiaomi.ts";
import { but, changed, expectRefused, get, NOW_MS, NOW_SECONDS, post, queryOf } from "./calls.ts";

let [bilibili, huawei, vivo, oppo, xiaomi]: StandIn[] = [];
const md5 = (text: string) => createHash("md5").update(text).digest("hex");

beforeAll(async () => {
  const clock = () => NOW_MS;
  [bilibili, huawei] = [await startBilibili({ clock }), await startHuawei({ clock })];
  [vivo, oppo, xiaomi] = [await startVivo({ clock }), await startOppo({ clock }), await startXiaomi({ clock })];
});
afterAll(() => Promise.all([bilibili, huawei, vivo, oppo, xiaomi].map((standIn) => standIn?.close())));
beforeEach(() => {
  for (const standIn of [bilibili, huawei, vivo, oppo, xiaomi]) standIn!.accepted.length = 0;
});

describe("Bilibili", () => {
  const PAY = { conv_type: "USER_COST", conv_time: NOW_MS, track_id: "t-1", conv_value: 600, client_ip: "::1" };
  const send = (values: Record<string, string | number>) =>
    get(`${bilibili!.url}/conv/api/conversion/ad/cb/v1?${queryOf(values)}`);

  test("a payment is accepted, and counted as often as it is sent", async () => {
    expect((await send(PAY)).json).toEqual({ code: 0, message: "", data: "" });
    await send(PAY);
    expect(bilibili!.accepted).toMatchObject([
      { key: "t-1", code: "USER_COST", cents: 600, isDuplicate: false },
      { isDuplicate: false },
    ]);
  });

  test.each<[string, string, string | number | undefined, RegExp]>([
    ["no track id", "track_id", undefined, /track_id is missing/],
    ["a track id that is too long", "track_id", "t".repeat(501), /track_id is invalid/],
    ["an unknown type", "conv_type", "PAY", /conv_type PAY is unknown/],
    ["time in seconds", "conv_time", NOW_SECONDS, /conv_time is not between/],
    ["money in yuan", "conv_value", "6.5", /conv_value is not a whole number/],
    ["no address", "client_ip", undefined, /client_ip is missing/],
  ])("refused: %s", async (_, name, value, reason) => {
    expect((await send(changed(PAY, name, value))).json.code).toBe(400);
    expectRefused(bilibili!, reason);
  });
});

describe("vivo", () => {
  const own = () => vivo as VivoStandIn;
  const ITEM = { userIdType: "OAID_MD5", userId: md5("oaid"), cvType: "PAY", cvTime: NOW_MS, requestId: "r-1" };
  const BODY = { srcType: "APP", pkgName: "com.example.game", srcId: "ds-202600001", dataList: [ITEM] };
  const CALL = { timestamp: NOW_MS, nonce: "n1" };
  const send = (body: unknown, values: Record<string, string | number> = CALL, token = own().tokens.accessToken) =>
    post(`${vivo!.url}/openapi/v1/advertiser/behavior/upload?${queryOf({ access_token: token, ...values })}`, body);

  test("a payment is accepted by its request id", async () => {
    expect((await send(BODY)).json.code).toBe(0);
    expect(vivo!.accepted).toMatchObject([{ key: "r-1", code: "PAY", atMs: NOW_MS, cents: null }]);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["no package", "pkgName", undefined, /pkgName/],
    ["an unknown source", "srcId", "ds-1", /srcId is unknown/],
    ["no items", "dataList", [], /dataList is empty/],
    ["too many items", "dataList", Array(101).fill(ITEM), /more than 100 items/],
    ["an unknown type", "dataList.0.cvType", "RETENTION_8", /cvType RETENTION_8 is unknown/],
    ["time in seconds", "dataList.0.cvTime", NOW_SECONDS, /cvTime is not between/],
    ["a raw id that is called hashed", "dataList.0.userId", "oaid", /md5 in lower hex/],
    ["an unknown kind of id", "dataList.0.userIdType", "GAID", /userIdType GAID/],
  ])("refused: %s", async (_, path, value, reason) => {
    expect((await send(but(BODY, path, value))).json.code).not.toBe(0);
    expectRefused(vivo!, reason);
  });

  test("a call needs its time in milliseconds and a nonce", async () => {
    expect((await send(BODY, { ...CALL, timestamp: NOW_SECONDS })).json.code).not.toBe(0);
    expect((await send(BODY, { timestamp: NOW_MS })).json.code).not.toBe(0);
  });

  test("an expired token is refused; a refresh replaces both", async () => {
    const { clientId: client_id, clientSecret: client_secret, tokens } = own();
    const refresh_token = tokens.refreshToken;
    const refresh = () =>
      get(`${vivo!.url}/openapi/v1/oauth2/refreshToken?${queryOf({ client_id, client_secret, refresh_token })}`);
    tokens.expire();
    expect((await send(BODY)).json.message).toMatch(/expired/);
    expect((await refresh()).json.data).toMatchObject({
      access_token: tokens.accessToken,
      refresh_token: tokens.refreshToken,
      token_date: NOW_MS + 86_400_000,
    });
    expect((await send(BODY)).json.code).toBe(0);
    expect((await refresh()).json.code).not.toBe(0);
  });
});

describe("OPPO", () => {
  const own = () => oppo as OppoStandIn;
  const encrypted = (oaid: string) => {
    const cipher = createCipheriv("aes-128-ecb", Buffer.from(own().aesKey, "base64"), null);
    return cipher.update(oaid, "utf8", "base64") + cipher.final("base64");
  };
  const body = () => ({
    ouId: encrypted("raw-oaid"),
    pkg: "com.example.game",
    dataType: 3,
    timestamp: NOW_MS,
    channel: 1,
    type: 2,
    appType: 1,
    ascribeType: 1,
    adId: 77,
    clientIp: "203.0.113.9",
  });
  const send = (fields: object, headers: Record<string, string> = {}) => {
    const text = JSON.stringify(fields);
    const signature = md5(`${text}${NOW_MS}${own().salt}`);
    return post(`${oppo!.url}/api/uploadActiveData`, text, { timestamp: String(NOW_MS), signature, ...headers });
  };

  test("a payment is accepted by the encrypted id", async () => {
    expect((await send(body())).json.ret).toBe(0);
    expect(oppo!.accepted).toMatchObject([{ key: "raw-oaid", code: "3", atMs: NOW_MS }]);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["an id that is not encrypted", "ouId", "raw-oaid", /ouId/],
    ["no package", "pkg", undefined, /pkg/],
    ["an unknown type", "dataType", 5, /dataType 5 is unknown/],
    ["a type as a text", "dataType", "3", /dataType is not a whole number/],
    ["time in seconds", "timestamp", NOW_SECONDS, /timestamp is not between/],
    ["an unknown channel", "channel", 3, /channel/],
    ["no ad", "adId", undefined, /adId/],
    ["no kind of app", "appType", undefined, /appType/],
    ["an invalid address", "clientIp", "localhost", /clientIp/],
  ])("refused: %s", async (_, path, value, reason) => {
    expect((await send(but(body(), path, value))).json.ret).not.toBe(0);
    expectRefused(oppo!, reason);
  });

  test("the signature covers the body, the time and the salt", async () => {
    await send(body(), { signature: md5("another") });
    expectRefused(oppo!, /signature does not verify/);
    await send(body(), { timestamp: String(NOW_MS + 1) });
    expectRefused(oppo!, /signature does not verify/);
    await send(body(), { timestamp: String(NOW_SECONDS) });
    expectRefused(oppo!, /timestamp is not in milliseconds/);
  });
});

describe("Xiaomi", () => {
  const own = () => xiaomi as XiaomiStandIn;
  const TOLD = `oaid=raw-oaid&conv_time=${NOW_MS}&client_ip=203.0.113.9`;

  function encoded(told: string, { signKey, encryptKey } = own()): string {
    const key = Buffer.from(encryptKey);
    const bytes = Buffer.from(`${told}&sign=${md5(`${signKey}&${encodeURIComponent(told)}`)}`);
    for (let at = 0; at < bytes.length; at += 1) bytes[at]! ^= key[at % key.length]!;
    return bytes.toString("base64");
  }

  const send = (info: string, values: Record<string, string> = {}) => {
    const { appId, customerId: customer_id } = own();
    return get(`${xiaomi!.url}/global/log?${queryOf({ appId, customer_id, conv_type: "APP_PAY", info, ...values })}`);
  };

  test("a payment is accepted, and success is 1", async () => {
    expect((await send(encoded(TOLD))).json.code).toBe(1);
    expect(xiaomi!.accepted).toMatchObject([{ key: "raw-oaid", code: "APP_PAY", atMs: NOW_MS }]);
  });

  test("a key action has its target and its current count", async () => {
    const values = { conv_type: "APP_ADDICTION" };
    expect((await send(encoded(TOLD), values)).json.code).not.toBe(1);
    expect((await send(encoded(`${TOLD}&key_action_target=3&key_action_reach=1`), values)).json.code).toBe(1);
  });

  test.each<[string, () => string, Record<string, string>, RegExp]>([
    ["another sign key", () => encoded(TOLD, { ...own(), signKey: "x" }), {}, /sign does not verify/],
    ["another encryption key", () => encoded(TOLD, { ...own(), encryptKey: "x" }), {}, /does not decode/],
    ["a text that is not base64", () => "a b", {}, /not base64/],
    ["no oaid", () => encoded(TOLD.replace("oaid", "id")), {}, /oaid is missing/],
    ["time in seconds", () => encoded(TOLD.replace(String(NOW_MS), String(NOW_SECONDS))), {}, /conv_time/],
    ["an invalid address", () => encoded(TOLD.replace("203.0.113.9", "x")), {}, /client_ip/],
    ["an unknown type", () => encoded(TOLD), { conv_type: "PAY" }, /conv_type PAY/],
    ["an unknown app", () => encoded(TOLD), { appId: "1" }, /appId/],
    ["an unknown customer", () => encoded(TOLD), { customer_id: "1" }, /customer_id/],
  ])("refused: %s", async (_, info, values, reason) => {
    expect((await send(info(), values)).json.code).not.toBe(1);
    expectRefused(xiaomi!, reason);
  });
});

describe("Huawei", () => {
  const PAID = {
    callback: "cb",
    oaid: "",
    conversion_type: "paid",
    conversion_time: String(NOW_SECONDS),
    timestamp: String(NOW_MS),
    conversion_price: "6.48",
  };
  const PATH = "/action-lib-track/hiad/v2/actionupload";
  const send = (body: object, change: { secretKey?: string; validTime?: number } = {}) => {
    const { secretKey = (huawei as HuaweiStandIn).secretKey, validTime = NOW_MS } = change;
    const text = JSON.stringify(body);
    const response = createHmac("sha256", secretKey).update(text).digest("hex");
    const authorization = `Digest validTime="${validTime}", response="${response}"`;
    return post(`${huawei!.url}${PATH}`, text, { authorization });
  };

  test("a payment is accepted, its price in yuan", async () => {
    expect((await send(PAID)).json.resultCode).toBe(0);
    expect(huawei!.accepted).toMatchObject([{ key: "cb", code: "paid", cents: 648, atMs: NOW_MS }]);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["no callback", "callback", undefined, /callback is missing/],
    ["no field for the device", "oaid", undefined, /oaid is missing/],
    ["an unknown type", "conversion_type", "4", /conversion_type 4 is unknown/],
    ["the conversion's time in milliseconds", "conversion_time", String(NOW_MS), /conversion_time is not in seconds/],
    ["a time that is no text", "conversion_time", NOW_SECONDS, /conversion_time is missing or not a text/],
    ["the call's time in seconds", "timestamp", String(NOW_SECONDS), /timestamp is not in milliseconds/],
    ["a price with three decimals", "conversion_price", "6.481", /conversion_price is malformed/],
  ])("refused: %s", async (_, name, value, reason) => {
    expect((await send(but(PAID, name, value))).json.resultCode).not.toBe(0);
    expectRefused(huawei!, reason);
  });

  test("a call without a digest, with another key or an old digest is refused", async () => {
    await post(`${huawei!.url}${PATH}`, PAID);
    expectRefused(huawei!, /authorization is missing/);
    await send(PAID, { secretKey: "another" });
    expectRefused(huawei!, /does not verify/);
    await send(PAID, { validTime: NOW_MS - 301_000 });
    expectRefused(huawei!, /validTime is more than 300 s off/);
  });
});
