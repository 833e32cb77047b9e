import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { cliJson } from "../../cli/run.ts";
import { ApplyStage } from "../../db/apply-stage.ts";
import { type Call, call as callUrl } from "../../support/call.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import { BASE, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const KINDS = ["click", "impression"] as const;
const TAKEN_IN = { status: 200, code: 0, msg: "success", data: {}, extra: {} };

/** One app for all tests that neither count its touches nor change its settings; each touch has its own click id. */
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

/** Calls a path and query exactly as given, without further encoding. */
const call = (pathAndQuery: string, sent: Call = {}) => callUrl(`${server.url}${BASE}/event/${pathAndQuery}`, sent);

/** A POST with a form. */
const form = (fields: Record<string, string>): Call => ({
  method: "POST",
  body: new URLSearchParams(fields).toString(),
  headers: { "content-type": "application/x-www-form-urlencoded;charset=UTF-8" },
});

function queryOf(parameters: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value));
  return query.toString();
}

const click = (of: App, parameters: Record<string, string | number> = {}) =>
  call(`click/?${queryOf({ app_id: of.appId, company: "tencent", ...parameters })}`);

/** The stored touches of an app, in the order of their click ids. */
function touchesOf(of: App): Promise<Row[]> {
  return tables.query(
    "select kind, ad_platform, touched_at_ms, received_at_ms, aid, details from touch where app_id = $1 order by details->>'click_id'",
    [of.appId],
  );
}

const withClickId = (touches: readonly Row[], clickId: string) =>
  touches.filter((touch) => touch.details.click_id === clickId);

async function ledgerOf(of: App): Promise<Row> {
  await server.settle();
  const minutes = await cliJson(server.dataDir, ["ledger", "--touches", "--app", String(of.appId)]);
  const sum = (name: string) => minutes.reduce((total: number, minute: Row) => total + minute[name], 0);
  return { received: sum("received"), stored: sum("stored"), duplicate: sum("duplicate") };
}

describe("the answer is the envelope, with the field that the platform's server expects", () => {
  const COMPANIES = [...["kuaishou", "bytedance", "baidu", "bilibili", "vivo", "oppo", "xiaomi", "huawei", "gravity"]];
  const NAMES: readonly [company: string, platform: string][] = [
    ["gdt", "tencent"],
    ["TENCENT", "tencent"],
    ["apple", "asa"],
  ];
  const clickIdOf = (company: string, kind: string) => `${kind} of ${company}`;
  const answers = new Map<string, Answer>();
  let touches: Row[];
  beforeAll(async () => {
    const send = async (company: string, kind: string) => {
      const click_id = clickIdOf(company, kind);
      const query = queryOf({ app_id: app.appId, company, click_id, impression_id: click_id, aid: "a7" });
      answers.set(click_id, await call(`${kind}/?${query}`));
    };
    await Promise.all([
      ...["tencent", ...COMPANIES].flatMap((company) => KINDS.map((kind) => send(company, kind))),
      ...[...NAMES.map(([company]) => company), "My_Network_2"].map((company) => send(company, "click")),
    ]);
    touches = await touchesOf(app);
  });

  test.each(KINDS)("Tencent finds ret 0 beside code 0 in the answer to its %s", (kind) => {
    const answer = answers.get(clickIdOf("tencent", kind))!;
    expect(answer).toMatchObject({ ...TAKEN_IN, ret: 0 });
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(withClickId(touches, clickIdOf("tencent", kind))).toMatchObject([{ kind, ad_platform: "tencent" }]);
  });

  test.each(COMPANIES)("%s finds code 0 and no ret", (company) => {
    for (const kind of KINDS) {
      const answer = answers.get(clickIdOf(company, kind));
      expect(answer).toMatchObject(TAKEN_IN);
      expect(answer).not.toHaveProperty("ret");
      expect(withClickId(touches, clickIdOf(company, kind))).toMatchObject([{ kind, ad_platform: company }]);
    }
  });

  test("an unknown platform is accepted under its own name, in lower case", () => {
    const clickId = clickIdOf("My_Network_2", "click");
    expect(answers.get(clickId)).toMatchObject(TAKEN_IN);
    expect(withClickId(touches, clickId)).toMatchObject([{ ad_platform: "my_network_2", aid: "a7" }]);
  });

  test.each(NAMES)("company %s is %s", (company, platform) => {
    expect(answers.get(clickIdOf(company, "click"))).toMatchObject(TAKEN_IN);
    expect(withClickId(touches, clickIdOf(company, "click"))).toMatchObject([{ ad_platform: platform }]);
  });
});

describe("every way of calling a link is accepted:", () => {
  const of = (clickId: string) => queryOf({ app_id: app.appId, company: "tencent", click_id: clickId, aid: 9 });
  const EXT_INFO = "x".repeat(8 * 1024);

  /** How a call with this click id is made, and the touch that is stored. */
  const WAYS: readonly [title: string, send: (clickId: string) => Promise<Answer>, touch: Row][] = [
    ["GET with a slash at the end", (id) => call(`click/?${of(id)}`), { aid: "9" }],
    ["GET without it", (id) => call(`click?${of(id)}`), { aid: "9" }],
    ["POST with an empty body", (id) => call(`click/?${of(id)}`, { method: "POST" }), { aid: "9" }],
    ["POST without the slash", (id) => call(`click?${of(id)}`, { method: "POST" }), { aid: "9" }],
    [
      "POST with a JSON body, which is ignored",
      (id) => call(`click/?${of(id)}`, { method: "POST", body: '{"click_id":"other"}' }),
      { aid: "9" },
    ],
    [
      "a form in the body of a POST adds to the query, and the query takes precedence",
      (id) =>
        call(`click/?app_id=${app.appId}&company=kuaishou&aid=3`, form({ click_id: id, aid: "of the body", cid: "5" })),
      { ad_platform: "kuaishou", aid: "3" },
    ],
    [
      "app_id and company may be in the form, as long as there is a query",
      (id) =>
        call("click/?channel=c", form({ app_id: `${app.appId}`, company: "kuaishou", callback: "k1", click_id: id })),
      { ad_platform: "kuaishou", details: { callback: "k1" } },
    ],
    [
      "a broken percent sign affects only its own value",
      (id) => call(`click/?${of(id)}&gid_name=50%&aid_name=%E0%A4%A`),
      { details: { gid_name: "50%" } },
    ],
    [
      "an encoded NUL is accepted and stored in a form that the tables can hold",
      (id) => call(`click/?${of(id)}&gid_name=a%00b`),
      { aid: "9" },
    ],
    [
      "a query of 8 KB is stored as a whole",
      (id) => click(app, { company: "baidu", click_id: id, ext_info: EXT_INFO }),
      { ad_platform: "baidu", details: { ext_info: EXT_INFO } },
    ],
  ];
  const clickIdOf = (title: string) => `形 ${title}`;
  const answers = new Map<string, Answer>();
  let touches: Row[];
  beforeAll(async () => {
    await Promise.all(WAYS.map(async ([title, send]) => answers.set(title, await send(clickIdOf(title)))));
    touches = await touchesOf(app);
  });

  test.each(WAYS)("%s", (title, _send, expected) => {
    const touch = { ad_platform: "tencent", ...expected };
    expect(answers.get(title)).toMatchObject({ ...TAKEN_IN, ...(touch.ad_platform === "tencent" && { ret: 0 }) });
    expect(withClickId(touches, clickIdOf(title))).toMatchObject([touch]);
  });

  test("a touch is stored under few keys, no matter how many ids the call lists", async () => {
    const own = await server.createApp();
    const caid = Array.from({ length: 2_000 }, (_, index) => `1_${index.toString(36)}`).join(",");
    const body = `click_id=c1&caid=${caid}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    expect(await call(`click/?app_id=${own.appId}&company=vivo`, { method: "POST", body, headers })).toMatchObject({
      code: 0,
    });
    expect(await touchesOf(own)).toHaveLength(1);
    const [row] = await tables.query("select count(*)::int as keys from touch_key where app_id = $1", [own.appId]);
    // The click id, and as many caids as one touch may have.
    expect(row).toEqual({ keys: 1 + LIMITS.touchIdsPerKind });
  });

  test("macros that the platform did not replace are empty", async () => {
    await click(app, { click_id: "macros", aid: "__ADGROUP_ID__", req_id: "__REQUEST_ID__", ts: "__CLICK_TIME__" });
    const [touch] = withClickId(await touchesOf(app), "macros");
    expect(touch).toMatchObject({ aid: "" });
    expect(touch!.details).not.toHaveProperty("req_id");
    expect(touch!.touched_at_ms).toBe(touch!.received_at_ms);
  });

  test("ts in seconds and in milliseconds is the same instant", async () => {
    const s = Math.floor(Date.now() / 1000) - 60;
    await click(app, { click_id: "in s", ts: s });
    await click(app, { click_id: "in ms", ts: s * 1000 });
    const touches = await touchesOf(app);
    for (const clickId of ["in s", "in ms"])
      expect(withClickId(touches, clickId)).toMatchObject([{ touched_at_ms: s * 1000 }]);
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
    const own = await server.createApp();
    const code = async () => (await click(own, { click_id: "c1" })).code;
    expect(await code()).toBe(0);
    await tables.changeSettings("update app set enabled = false where app_id = $1", [own.appId]);
    await expect.poll(code).toBe(2001);
    await tables.changeSettings("update app set enabled = true where app_id = $1", [own.appId]);
    await expect.poll(code).toBe(0);
  });

  test("a form larger than a link call can be, with 413 and the envelope", async () => {
    const own = await server.createApp();
    const query = `app_id=${own.appId}&company=tencent`;
    const send = (bytes: number) => call(`click/?${query}`, form({ click_id: "x".repeat(bytes - 9) }));
    expect(await send(LIMITS.linkBytes + 1)).toMatchObject({ status: 413, code: 1413, data: {} });
    expect(await send(LIMITS.linkBytes - query.length + 1)).toMatchObject({ status: 413, code: 1413, data: {} });
    expect(await touchesOf(own)).toEqual([]);
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
    const own = await server.createApp();
    await click(own, { click_id: "c1", aid: "1" });
    await click(own, { click_id: "c1", aid: "2" });
    await call(`click?app_id=${own.appId}&company=tencent&click_id=c1`, { method: "POST" });
    expect(await touchesOf(own)).toMatchObject([{ aid: "1" }]);
    expect(await ledgerOf(own)).toEqual({ received: 3, stored: 1, duplicate: 2 });
  });

  test("without any id, by the whole call", async () => {
    const own = await server.createApp();
    const ts = Date.now();
    for (const aid of ["1", "1", "2"]) await click(own, { aid, ts });
    expect((await touchesOf(own)).map(({ aid }) => aid).sort()).toEqual(["1", "2"]);
    expect(await ledgerOf(own)).toEqual({ received: 3, stored: 2, duplicate: 1 });
  });

  test("but a click and an impression are two, and so are those of two platforms or two apps", async () => {
    const [own, other] = [await server.createApp(), await server.createApp()];
    await click(own, { click_id: "same" });
    await click(own, { click_id: "same", company: "vivo" });
    await call(`impression/?app_id=${own.appId}&company=tencent&impression_id=same`);
    await click(other, { click_id: "same" });
    expect(await ledgerOf(own)).toEqual({ received: 3, stored: 3, duplicate: 0 });
    expect(await ledgerOf(other)).toEqual({ received: 1, stored: 1, duplicate: 0 });
  });

  test("a click that arrives twice is one candidate for the user it brought", async () => {
    for (let times = 0; times < 2; times += 1) await click(app, { click_id: "vid-1" });
    await server.register(app, "u", { ad_data: { gdt_vid: "vid-1" } });
    await server.settle();
    const why = await cliJson(server.dataDir, ["why", "u", "--app", String(app.appId)]);
    expect(why.candidates).toMatchObject([{ platform: "tencent", matched_by: "click_key", outcome: "won" }]);
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
    // Together, because each would wait for the disk by itself.
    const appended: Promise<unknown>[] = [];
    for (const [index, [name, list]] of links.entries()) {
      const encoded = new URLSearchParams([["company", name], ...list]).toString();
      const plain = `company=${name}&${list.map((pair) => pair.join("=")).join("&")}`;
      for (const query of [encoded, plain]) appended.push(stage.append(index % 3 ? "click" : "impression", "", query));
      const of = (wanted: string) => list.find(([parameter]) => parameter === wanted)?.[1];
      const device_info = { os_name: "ios", oaid: of("oaid"), idfa: of("idfa"), mac: of("mac") };
      const ad_data = { gdt_vid: of("click_id"), callback: of("callback") };
      const address = { client_ip: of("ip"), client_ua: of("ua"), wx_openid: of("wx_openid") };
      appended.push(stage.register(`u${index}`, { ad_data, device_info, ...address }));
    }
    await Promise.all(appended);
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
