import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { cliJson } from "../../cli/run.ts";
import { ApplyStage } from "../../db/apply-stage.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { answerOf } from "../../support/touchpoint.ts";
import { BASE, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const KINDS = ["click", "impression"] as const;
const TAKEN_IN = { status: 200, code: 0, msg: "success", data: {}, extra: {} };

/** Calls a path and query exactly as given, without further encoding. */
const call = async (pathAndQuery: string, init: RequestInit = {}) =>
  answerOf(await fetch(`${server.url}${BASE}/event/${pathAndQuery}`, init));

function queryOf(parameters: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value));
  return query.toString();
}

const click = (app: App, parameters: Record<string, string | number> = {}) =>
  call(`click/?${queryOf({ app_id: app.appId, company: "tencent", ...parameters })}`);

/** The stored touches of an app, in the order of their click ids. */
async function touchesOf(app: App): Promise<Row[]> {
  await server.settle();
  return tables.query(
    "select kind, ad_platform, touched_at_ms, received_at_ms, aid, details from touch where app_id = $1 order by details->>'click_id'",
    [app.appId],
  );
}

async function ledgerOf(app: App): Promise<Row> {
  await server.settle();
  const minutes = await cliJson(server.dataDir, ["ledger", "--touches", "--app", String(app.appId)]);
  const sum = (name: string) => minutes.reduce((total: number, minute: Row) => total + minute[name], 0);
  return { received: sum("received"), stored: sum("stored"), duplicate: sum("duplicate") };
}

describe("the answer is the envelope, with the field that the platform's server expects", () => {
  test.each(KINDS)("Tencent finds ret 0 beside code 0 in the answer to its %s", async (kind) => {
    const app = await server.createApp();
    const answer = await call(`${kind}/?app_id=${app.appId}&company=tencent&click_id=c1&impression_id=i1`);
    expect(answer).toMatchObject({ ...TAKEN_IN, ret: 0 });
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await touchesOf(app)).toMatchObject([{ kind, ad_platform: "tencent" }]);
  });

  test.each(["kuaishou", "bytedance", "baidu", "bilibili", "vivo", "oppo", "xiaomi", "huawei", "gravity"])(
    "%s finds code 0 and no ret",
    async (company) => {
      const app = await server.createApp();
      for (const kind of KINDS) {
        const answer = await call(`${kind}/?app_id=${app.appId}&company=${company}&click_id=c1&impression_id=i1`);
        expect(answer).toMatchObject(TAKEN_IN);
        expect(answer).not.toHaveProperty("ret");
      }
      const stored = await touchesOf(app);
      expect(stored.map((touch) => [touch.kind, touch.ad_platform]).sort()).toEqual([
        ["click", company],
        ["impression", company],
      ]);
    },
  );

  test("an unknown platform is accepted under its own name, in lower case", async () => {
    const app = await server.createApp();
    expect(await click(app, { company: "My_Network_2", aid: "a7" })).toMatchObject(TAKEN_IN);
    expect(await touchesOf(app)).toMatchObject([{ ad_platform: "my_network_2", aid: "a7" }]);
  });

  test.each([
    ["gdt", "tencent"],
    ["TENCENT", "tencent"],
    ["apple", "asa"],
  ])("company %s is %s", async (company, platform) => {
    const app = await server.createApp();
    expect(await click(app, { company, click_id: "c" })).toMatchObject(TAKEN_IN);
    expect(await touchesOf(app)).toMatchObject([{ ad_platform: platform }]);
  });
});

describe("every way of calling a link is accepted:", () => {
  test.each([
    ["GET with a slash at the end", "click/?", {}],
    ["GET without it", "click?", {}],
    ["POST with an empty body", "click/?", { method: "POST" }],
    ["POST without the slash", "click?", { method: "POST" }],
    ["POST with a JSON body, which is ignored", "click/?", { method: "POST", body: '{"click_id":"other"}' }],
  ])("%s", async (_, path, init: RequestInit) => {
    const app = await server.createApp();
    const answer = await call(`${path}app_id=${app.appId}&company=tencent&click_id=c1&aid=9`, init);
    expect(answer).toMatchObject({ ...TAKEN_IN, ret: 0 });
    expect(await touchesOf(app)).toMatchObject([{ aid: "9", details: { click_id: "c1" } }]);
  });

  test("a form in the body of a POST adds to the query, and the query takes precedence", async () => {
    const app = await server.createApp();
    const body = new URLSearchParams({ click_id: "形", aid: "from the body", cid: "5" });
    const answer = await call(`click/?app_id=${app.appId}&company=kuaishou&aid=3`, { method: "POST", body });
    expect(answer).toMatchObject(TAKEN_IN);
    expect(await touchesOf(app)).toMatchObject([{ aid: "3", details: { click_id: "形" } }]);
  });

  test("app_id and company may be in the form, as long as there is a query", async () => {
    const app = await server.createApp();
    const body = new URLSearchParams({ app_id: String(app.appId), company: "kuaishou", callback: "k1" });
    expect(await call("click/?channel=c", { method: "POST", body })).toMatchObject(TAKEN_IN);
    expect(await touchesOf(app)).toMatchObject([{ ad_platform: "kuaishou", details: { callback: "k1" } }]);
  });

  test("a broken percent sign affects only its own value", async () => {
    const app = await server.createApp();
    const answer = await call(`click/?app_id=${app.appId}&company=tencent&click_id=c1&gid_name=50%&aid_name=%E0%A4%A`);
    expect(answer).toMatchObject(TAKEN_IN);
    expect(await touchesOf(app)).toMatchObject([{ details: { click_id: "c1", gid_name: "50%" } }]);
  });

  test("an encoded NUL is accepted and stored in a form that the tables can hold", async () => {
    const app = await server.createApp();
    expect(await call(`click/?app_id=${app.appId}&company=tencent&click_id=c1&gid_name=a%00b`)).toMatchObject(TAKEN_IN);
    expect(await touchesOf(app)).toMatchObject([{ details: { click_id: "c1" } }]);
  });

  test("a query of 8 KB is stored as a whole", async () => {
    const app = await server.createApp();
    const ext_info = "x".repeat(8 * 1024);
    expect(await click(app, { company: "baidu", click_id: "c1", ext_info })).toMatchObject(TAKEN_IN);
    expect(await touchesOf(app)).toMatchObject([{ details: { ext_info } }]);
  });

  test("a touch is stored under few keys, no matter how many ids the call lists", async () => {
    const app = await server.createApp();
    const caid = Array.from({ length: 2_000 }, (_, index) => `1_${index.toString(36)}`).join(",");
    const body = `click_id=c1&caid=${caid}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    expect(await call(`click/?app_id=${app.appId}&company=vivo`, { method: "POST", body, headers })).toMatchObject({
      code: 0,
    });
    expect(await touchesOf(app)).toHaveLength(1);
    const [row] = await tables.query("select count(*)::int as keys from touch_key where app_id = $1", [app.appId]);
    // The click id, and as many caids as one touch may have.
    expect(row).toEqual({ keys: 1 + LIMITS.touchIdsPerKind });
  });

  test("macros that the platform did not replace are empty", async () => {
    const app = await server.createApp();
    await click(app, { click_id: "c1", aid: "__ADGROUP_ID__", req_id: "__REQUEST_ID__", ts: "__CLICK_TIME__" });
    const [touch] = await touchesOf(app);
    expect(touch).toMatchObject({ aid: "", details: { click_id: "c1" } });
    expect(touch!.details).not.toHaveProperty("req_id");
    expect(touch!.touched_at_ms).toBe(touch!.received_at_ms);
  });

  test("ts in seconds and in milliseconds is the same instant", async () => {
    const app = await server.createApp();
    const s = Math.floor(Date.now() / 1000) - 60;
    await click(app, { click_id: "c1", ts: s });
    await click(app, { click_id: "c2", ts: s * 1000 });
    expect((await touchesOf(app)).map((touch) => Number(touch.touched_at_ms))).toEqual([s * 1000, s * 1000]);
  });
});

describe("refused, and not stored:", () => {
  test.each<[string, string, number, RegExp]>([
    ["an app that does not exist", "app_id=2147483000&company=tencent", 2001, /app_id/],
    ["an app id beyond every id", "app_id=9999999999&company=tencent", 2001, /app_id/],
    ["no app_id", "company=tencent", 1004, /app_id/],
    ["an empty app_id", "app_id=&company=tencent", 1004, /app_id/],
    ["an app_id that is no number", "app_id=abc&company=tencent", 1004, /app_id/],
    ["an app_id that was not filled in", "app_id=__APP_ID__&company=tencent", 1004, /app_id/],
    ["an app_id of eleven digits", "app_id=12345678901&company=tencent", 1004, /app_id/],
    ["no company", "app_id=1", 1004, /company/],
    ["an empty company", "app_id=1&company=", 1004, /company/],
    ["a company that is no name", "app_id=1&company=a%20b", 1004, /company/],
    ["a company that means no platform at all", "app_id=1&company=natural", 1004, /company/],
    ["another parameter that ends in app_id", "my_app_id=1&company=tencent", 1004, /app_id/],
    ["nothing at all", "", 1004, /app_id|company/],
  ])("%s", async (_, query, code, msg) => {
    for (const kind of KINDS) {
      const answer = await call(`${kind}/?${query}`);
      expect(answer).toMatchObject({ status: 200, code, msg: expect.stringMatching(msg), data: {} });
      expect(answer).not.toHaveProperty("ret");
    }
  });

  test("a link without a question mark", async () => {
    for (const path of ["click", "click/", "impression/"])
      expect(await call(path)).toMatchObject({ status: 200, code: 1004, data: {} });
  });

  test("touches of a disabled app, until it is enabled again", async () => {
    const app = await server.createApp();
    const code = async () => (await click(app, { click_id: "c1" })).code;
    expect(await code()).toBe(0);
    await tables.changeSettings("update app set enabled = false where app_id = $1", [app.appId]);
    await expect.poll(code).toBe(2001);
    await tables.changeSettings("update app set enabled = true where app_id = $1", [app.appId]);
    await expect.poll(code).toBe(0);
  });

  test("a form larger than a link call can be, with 413 and the envelope", async () => {
    const app = await server.createApp();
    const query = `app_id=${app.appId}&company=tencent`;
    const send = (bytes: number) =>
      call(`click/?${query}`, { method: "POST", body: new URLSearchParams({ click_id: "x".repeat(bytes - 9) }) });
    expect(await send(LIMITS.linkBytes + 1)).toMatchObject({ status: 413, code: 1413, data: {} });
    expect(await send(LIMITS.linkBytes - query.length + 1)).toMatchObject({ status: 413, code: 1413, data: {} });
    expect(await touchesOf(app)).toEqual([]);
    expect(await send(LIMITS.linkBytes - query.length)).toMatchObject(TAKEN_IN);
  });

  test.each(["PUT", "DELETE", "PATCH"])("%s, with 405 and the envelope", async (method) => {
    const answer = await call("click/?app_id=1&company=tencent", { method });
    expect(answer).toMatchObject({ status: 405, code: 1405, msg: expect.stringContaining(method), data: {} });
    expect(answer.headers.get("allow")).toContain("GET");
  });
});

describe("the same touch twice is one touch:", () => {
  test("by its click id, whatever else differs and however it is sent", async () => {
    const app = await server.createApp();
    await click(app, { click_id: "c1", aid: "1" });
    await click(app, { click_id: "c1", aid: "2" });
    await call(`click?app_id=${app.appId}&company=tencent&click_id=c1`, { method: "POST" });
    expect(await touchesOf(app)).toMatchObject([{ aid: "1" }]);
    expect(await ledgerOf(app)).toEqual({ received: 3, stored: 1, duplicate: 2 });
  });

  test("without any id, by the whole call", async () => {
    const app = await server.createApp();
    const ts = Date.now();
    for (const aid of ["1", "1", "2"]) await click(app, { aid, ts });
    expect((await touchesOf(app)).map(({ aid }) => aid).sort()).toEqual(["1", "2"]);
    expect(await ledgerOf(app)).toEqual({ received: 3, stored: 2, duplicate: 1 });
  });

  test("but a click and an impression are two, and so are those of two platforms or two apps", async () => {
    const [app, other] = [await server.createApp(), await server.createApp()];
    await click(app, { click_id: "same" });
    await click(app, { click_id: "same", company: "vivo" });
    await call(`impression/?app_id=${app.appId}&company=tencent&impression_id=same`);
    await click(other, { click_id: "same" });
    expect(await ledgerOf(app)).toEqual({ received: 3, stored: 3, duplicate: 0 });
    expect(await ledgerOf(other)).toEqual({ received: 1, stored: 1, duplicate: 0 });
  });

  test("a click that arrives twice is one candidate for the user it brought", async () => {
    const app = await server.createApp();
    for (let times = 0; times < 2; times += 1) await click(app, { click_id: "vid-1" });
    await server.register(app, "u", { ad_data: { gdt_vid: "vid-1" } });
    await server.settle();
    const why = await cliJson(server.dataDir, ["why", "u", "--app", String(app.appId)]);
    expect(why.candidates).toMatchObject([{ platform: "tencent", matched_by: "click_key", outcome: "won" }]);
  });
});

describe("Baidu's sign", () => {
  const AKEY = "ak/+=日 1";
  const setAkey = (app: App, akey: string) =>
    cliJson(server.dataDir, ["rules", "set", "--app", String(app.appId), "--platform", "baidu", "--akey", akey]);
  const unsigned = (app: App, more = "") =>
    `click/?app_id=${app.appId}&company=baidu&bd_vid=v1&aid_name=%E5%B9%BF${more}`;
  const signOf = (text: string) => createHash("md5").update(text).digest("hex");
  const signed = (pathAndQuery: string, akey = AKEY, scheme = "http") => {
    const url = `${server.url}${BASE}/event/${pathAndQuery}`.replace(/^http/, scheme);
    return `${pathAndQuery}&sign=${signOf(url + akey)}`;
  };
  const code = async (pathAndQuery: string, init: RequestInit = {}) => (await call(pathAndQuery, init)).code;

  /** Waits until the akey is in force. The clicks that test this are stored until then. */
  async function requireSign(app: App): Promise<void> {
    await setAkey(app, AKEY);
    await expect.poll(() => code(`click/?app_id=${app.appId}&company=baidu&bd_vid=probe`)).toBe(2002);
  }
  const touchesBesidesProbes = async (app: App) =>
    (await touchesOf(app)).filter(({ details }) => details.bd_vid !== "probe");

  test("is not required without an akey: any click is accepted", async () => {
    const app = await server.createApp();
    expect(await code(unsigned(app))).toBe(0);
    expect(await code(`${unsigned(app)}&sign=${"0".repeat(32)}`)).toBe(0);
  });

  test("is checked with an akey, and a click that fails is refused with 2002 and not stored", async () => {
    const app = await server.createApp();
    await requireSign(app);
    const forged = [
      `${unsigned(app)}&sign=${"0".repeat(32)}`,
      `${unsigned(app)}&sign=`,
      `${unsigned(app)}&sign=__SIGN__`,
      signed(unsigned(app), "another key"),
      signed(unsigned(app)).replace("v1", "v2"),
      `${signed(unsigned(app))}&aid=7`,
    ];
    for (const link of forged)
      expect([link, await call(link)]).toMatchObject([
        link,
        { status: 200, code: 2002, msg: expect.stringContaining("sign"), data: {} },
      ]);
    expect(await touchesBesidesProbes(app)).toEqual([]);
  });

  test("accepts what Baidu has signed, by GET and POST, over http and behind a proxy that terminates https", async () => {
    const app = await server.createApp();
    await requireSign(app);
    expect(await code(signed(unsigned(app, "&n=1")))).toBe(0);
    expect(await code(signed(unsigned(app, "&n=2")), { method: "POST" })).toBe(0);
    expect(await code(signed(unsigned(app, "&n=3"), AKEY, "https"))).toBe(0);
    const upper = signed(unsigned(app, "&n=4")).replace(/[0-9a-f]{32}$/, (sign) => sign.toUpperCase());
    expect(await code(upper)).toBe(0);
  });

  test("cannot be bypassed by a company that is checked as one and stored as another", async () => {
    const app = await server.createApp();
    await requireSign(app);
    for (const companies of [
      "%63ompany=baidu&company=tencent",
      "company=&company=baidu",
      "company=__COMPANY__&company=BAIDU",
      "company=+baidu&company=tencent",
      "compan%79=%62aidu",
    ]) {
      const link = `click/?app_id=${app.appId}&${companies}&bd_vid=forged`;
      expect([companies, await code(link)]).toEqual([companies, 2002]);
    }
    // Checked as Tencent's, it is stored as Tencent's.
    expect(await call(`click/?app_id=${app.appId}&company=tencent&company=baidu&click_id=c`)).toMatchObject({ ret: 0 });
    expect(await touchesBesidesProbes(app)).toMatchObject([{ ad_platform: "tencent" }]);
  });

  test("does not accept what it does not cover: a body, or a second value of a name", async () => {
    const app = await server.createApp();
    await requireSign(app);
    const link = signed(unsigned(app));
    expect(await code(link, { method: "POST", body: new URLSearchParams({ aid: "forged" }) })).toBe(2002);
    expect(await code(link, { method: "POST", body: '{"aid":"forged"}' })).toBe(2002);
    expect(await code(signed(unsigned(app, "&bd_vid=v2")))).toBe(2002);
    expect(await code(signed(unsigned(app, "&%62d_vid=v2")))).toBe(2002);
    expect(await touchesBesidesProbes(app)).toEqual([]);
    expect(await code(link)).toBe(0);
  });

  test("is only required for Baidu, and the akey can be removed again", async () => {
    const app = await server.createApp();
    await requireSign(app);
    expect((await click(app, { company: "kuaishou" })).code).toBe(0);
    expect((await click(await server.createApp(), { company: "baidu" })).code).toBe(0);
    await setAkey(app, "");
    await expect.poll(() => code(unsigned(app))).toBe(0);
  });
});

test("whatever a link carries, it and the registrations around it are applied", async () => {
  const names = [
    ...["ts", "click_id", "callback", "req_id", "impression_id", "aid", "project_id", "track_id", "channel", "csite"],
    ...["oaid", "oaid_md5", "idfa", "mac", "muid", "caid", "os", "model", "ip", "ua", "wx_openid", "__proto__"],
  ];
  const odd = ["\0", "\\", "\t", "\n", "\\N", "[null]", "[", '[{"caid":[null]}]', "http://[", "fe80::1%eth0"];
  const value = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom(...odd, "x".repeat(9_000), "9999999999999", "1718424000000", "\ud800", "::ffff:1.2.3.4"),
  );
  const company = fc.constantFrom("tencent", "kuaishou", "bytedance", "baidu", "asa", "constructor", "my_network");
  const parameters = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 8 });
  const stage = await ApplyStage.open();
  const run = async (links: [string, [string, string][]][]) => {
    await stage.begin();
    for (const [index, [name, list]] of links.entries()) {
      const encoded = new URLSearchParams([["company", name], ...list]).toString();
      const plain = `company=${name}&${list.map((pair) => pair.join("=")).join("&")}`;
      for (const query of [encoded, plain]) await stage.append(index % 3 ? "click" : "impression", "", query);
      const of = (wanted: string) => list.find(([parameter]) => parameter === wanted)?.[1];
      const device_info = { os_name: "ios", oaid: of("oaid"), idfa: of("idfa"), mac: of("mac") };
      const ad_data = { gdt_vid: of("click_id"), callback: of("callback") };
      const address = { client_ip: of("ip"), client_ua: of("ua"), wx_openid: of("wx_openid") };
      await stage.register(`u${index}`, { ad_data, device_info, ...address });
    }
    await stage.applyAll();
    expect([await stage.setAside(), await stage.count("user_account")]).toEqual([[], links.length]);
  };
  const links = fc.array(fc.tuple(company, parameters), { minLength: 20, maxLength: 50 });
  try {
    await fc.assert(fc.asyncProperty(links, run), { numRuns: 10 });
  } finally {
    await stage.close();
  }
});
