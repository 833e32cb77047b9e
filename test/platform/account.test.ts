import { describe, expect, test } from "vitest";
import {
  ACCOUNT_PLATFORMS,
  accountFieldsOf,
  type GivenAccount,
  isOwnAddress,
  movedAddresses,
  readAccountPlatform,
  readAdvertiserId,
  readAccount as readAnyAccount,
} from "../../src/platform/account.ts";

const readAccount = (platform: string, given: GivenAccount, mayCallPrivate = false) =>
  readAnyAccount(platform, given, { mayCallPrivate });

test("accounts exist for platforms with a connector, under any of their names", () => {
  expect(ACCOUNT_PLATFORMS).toHaveLength(13);
  expect(readAccountPlatform("gdt")).toBe("tencent");
  expect(readAccountPlatform("Apple")).toBe("asa");
  expect(() => readAccountPlatform("tiktok")).toThrow(
    /^There are no accounts at "tiktok"; platforms with accounts are tencent, /,
  );
});

test.each(ACCOUNT_PLATFORMS)("each field of %s has a unique name, and secrets have no fallback", (platform) => {
  const fields = accountFieldsOf(platform);
  expect(new Set(fields.map(({ name }) => name)).size).toBe(fields.length);
  for (const field of fields) if (field.isSecret) expect(field.fallback).toBe("");
});

test("a field that both connectors need is one field", () => {
  expect(accountFieldsOf("tencent").find(({ name }) => name === "access_token")?.uses).toEqual(["postbacks", "costs"]);
  expect(accountFieldsOf("vivo").find(({ name }) => name === "repeats")).toMatchObject({
    fallback: "no",
    uses: ["postbacks"],
  });
  expect(accountFieldsOf("asa").map(({ name }) => name)).not.toContain("repeats");
});

test("settings and secrets, switches and the rate are read", () => {
  const given = {
    settings: { url: "https://vivo.example/", repeats: "yes", codes: '{"pay":"3"}' },
    secrets: { access_token: "t" },
  };
  expect(readAccount("vivo", { ...given, postbacks: "off", rate: "50" })).toEqual({
    values: { ...given.settings, ...given.secrets },
    postbacks: false,
    costs: undefined,
    ratePerS: 50,
  });
  expect(readAccount("vivo", { settings: { url: "" } }).values).toEqual({ url: "" });
});

describe("refused", () => {
  test.each<[string, object, RegExp]>([
    [
      "vivo",
      { settings: { uri: "x" } },
      /^An account at vivo has no field "uri"; its fields are route, access_token, .*repeats\.$/,
    ],
    ["vivo", { secrets: { constructor: "x" } }, /^An account at vivo has no field "constructor"/],
    ["vivo", { settings: { access_token: "t" } }, /^access_token is a secret/],
    ["vivo", { secrets: { src_id: "s" } }, /^src_id is not a secret/],
    ["vivo", { settings: { repeats: "on" } }, /^repeats must be yes or no/],
    ["vivo", { settings: { token_url: "vivo.com" } }, /^token_url must be an address/],
    ["vivo", { settings: { codes: "[1]" } }, /^codes must be a JSON object/],
    ["baidu", { settings: { codes_app: '{"paid":"1"}' } }, /^codes_app: "paid" is not an event type/],
    ["vivo", { secrets: { access_token: "t".repeat(20_000) } }, /^access_token must be a text of at most/],
    ["vivo", { costs: "on" }, /^Costs cannot be pulled from vivo/],
    ["asa", { postbacks: "on" }, /^asa does not accept postbacks/],
    ["vivo", { postbacks: "yes" }, /^postbacks must be on or off/],
    ["vivo", { rate: "10001" }, /^rate must be/],
    ["vivo", { rate: "1.5" }, /^rate must be/],
    ["tencent", { settings: { callback_hosts: "*.e.qq.com" } }, /^callback_hosts must be full host names/],
    ["tencent", { settings: { callback_hosts: "api.e.qq.com:99999" } }, /^callback_hosts must be full host names/],
    ["tencent", { settings: { callback_hosts: "https://api.e.qq.com" } }, /^callback_hosts must be full host names/],
  ])("%s %j", (platform, given, sentence) => {
    expect(() => readAccount(platform, given)).toThrow(sentence);
  });

  test("an advertiser's id with spaces in it", () => {
    expect(readAdvertiserId("123")).toBe("123");
    for (const id of ["1 2", "1\n", "x".repeat(129)]) expect(() => readAdvertiserId(id)).toThrow(/^advertiser_id/);
  });
});

describe("an address of a private network", () => {
  const inside = ["localhost", "127.1", "2130706433", "0x7f000001", "[::ffff:7f00:1]", "10.0.0.1", "169.254.169.254"];

  test.each(inside)("%s is refused, however it is spelled, unless the settings allow it", (host) => {
    const settings = { url: `http://${host}:8080/x` };
    expect(() => readAccount("vivo", { settings })).toThrow(/^url: .* is an address of a private network; PLATFORM_/);
    expect(readAccount("vivo", { settings }, true).values).toEqual(settings);
  });

  test("is not allowed for callback hosts", () => {
    const settings = { callback_hosts: "api.e.qq.com, 127.0.0.1:8099" };
    expect(() => readAccount("tencent", { settings })).toThrow(/^callback_hosts: 127\.0\.0\.1:8099 is an address of a/);
    expect(readAccount("tencent", { settings }, true).values).toEqual(settings);
  });
});

test.each<[Record<string, string>, Record<string, string>, string[]]>([
  [{}, { url: "https://other.example/" }, ["url"]],
  [{ url: "https://one.example/" }, { url: "https://other.example/", page: "p" }, ["url"]],
  [{}, { token_url: "https://other.example/", callback_hosts: "other.example" }, ["token_url", "callback_hosts"]],
  [{ url: "https://one.example/" }, { url: "https://one.example/" }, []],
  [{ url: "https://one.example/" }, { page: "p" }, []],
  // The secrets belong to the platform's own address.
  [{ url: "https://one.example/" }, { url: "" }, []],
  [{ url: "https://one.example/" }, { url: "https://api.e.qq.com/v3.0/user_actions/add" }, []],
])("from %j, a change to %j moves %j", (before, after, moved) => {
  expect(movedAddresses("tencent", { before, after })).toEqual(moved);
});

test.each([
  ["", true],
  ["https://api.weixin.qq.com/v2/user_actions/add", true],
  ["http://127.0.0.1:8099/", true],
  ["http://api.weixin.qq.com/", false],
  ["https://weixin.qq.com/", false],
  ["https://other.example/api.weixin.qq.com", false],
])("%j is WeChat's own address, or a stand-in: %s", (wechat_url, isOwn) => {
  expect(isOwnAddress({ adPlatform: "tencent", settings: { wechat_url } }, "wechat_url")).toBe(isOwn);
});
