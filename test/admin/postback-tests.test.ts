import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import { createApp } from "../../src/admin/apps.ts";
import { testPostback } from "../../src/admin/operation/postback-tests.ts";
import { setAccount } from "../../src/admin/setting/accounts.ts";
import { newUser } from "../../src/apply/facts/new-user.ts";
import type { PostbackTest } from "../../src/contract/admin/postback-test.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { insertUsers, type UserAccount } from "../../src/db/user-account.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { TestDesk } from "../../src/postback/test-desk.ts";
import { vault } from "../db/temp-database.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const elapsed = { ms: 0 };
let app_id: number;
let kuaishou: KuaishouStandIn;
let engine: OceanEngineStandIn;
let tests: TestDesk;

beforeAll(async () => {
  const { pool, desk } = stage;
  const { clock } = desk;
  kuaishou = await startKuaishou({ clock });
  engine = await startOceanEngine({ clock });
  tests = deskOf({ mayCallPrivate: true });
  app_id = (await createApp(desk, { name: "New" })).appId;
  await account("kuaishou", { url: `${kuaishou.url}/track/activate`, callback_hosts: "127.0.0.1" });
  await account("bytedance", { url: `${engine.url}/api/v2/conversion` });
  const user = newUser({ appId: app_id, clientId: "u" }, 0, { calendar: calendarOf("Asia/Shanghai") });
  const users: UserAccount[] = [
    { ...user, adPlatform: "kuaishou", advertiserId: "77", adData: { callback: "ks-u" } },
    { ...user, clientId: "bare", adPlatform: "kuaishou" },
    { ...user, clientId: "organic" },
  ];
  await inTransaction(pool, (tx) => insertUsers(tx, users));
});

afterAll(async () => {
  await kuaishou.close();
  await engine.close();
});

beforeEach(() => {
  for (const standIn of [kuaishou, engine]) {
    standIn.accepted.length = 0;
    standIn.fail = () => undefined;
  }
});

function deskOf({ mayCallPrivate }: { mayCallPrivate: boolean }): TestDesk {
  const { pool, desk } = stage;
  const clocks = { clock: desk.clock, elapsed: () => elapsed.ms };
  return new TestDesk({ pool, vault, ...clocks, deadlineMs: PATIENCE_MS, mayCallPrivate });
}

async function account(ad_platform: string, settings: Record<string, string>, change: object = {}): Promise<void> {
  await setAccount({ ...stage.desk, mayCallPrivate: true }, { app_id, ad_platform, settings, ...change });
}

type Given = Partial<Parameters<typeof testPostback>[1]>;

function send(given: Given, desk = tests, mayCallPrivate = true): Promise<PostbackTest> {
  const body = { app_id, ad_platform: "kuaishou", event_type: "activate", ...given };
  return testPostback({ ...stage.desk, tests: desk, mayCallPrivate }, body);
}

const CLICK = { click: { callback: "ks-1" } };

/** Everything that a real postback changes. */
async function stored(): Promise<number[]> {
  const counts: number[] = [];
  for (const table of ["outbox", "postback", "orders", "dirty_day", "lane_pause"])
    counts.push(await stage.count(table));
  return counts;
}

describe("a test", () => {
  test("of a user is sent with the user's own click, shown, noted, and changes nothing else", async () => {
    const before = await stored();
    const sent = await send({ client_id: "u", event_type: "pay", value_cents: 648 });
    expect(kuaishou.accepted).toMatchObject([{ key: "ks-u", code: "3", cents: 648, atMs: stage.desk.clock() }]);
    expect(sent).toEqual({
      test_id: expect.stringMatching(/^test_[0-9a-f]{27}$/),
      at: "2023-11-15 06:13:20",
      mark: "",
      request: {
        method: "GET",
        url: `${kuaishou.url}/track/activate?callback=ks-u&event_type=3&event_time=1700000000000&purchase_amount=6.48`,
        headers: {},
        body: "",
      },
      answer: {
        status: 200,
        headers: expect.objectContaining({ "content-type": expect.stringContaining("json") }),
        body: expect.stringContaining('"result":1'),
        is_cut: false,
      },
      verdict: "accepted",
      reason: "",
      notes: [],
    });
    expect(await stored()).toEqual(before);
    expect((await stage.audit()).at(-1)).toEqual({
      action: "postback/test",
      appId: app_id,
      details: {
        app_id,
        ad_platform: "kuaishou",
        event_type: "pay",
        value_cents: 648,
        client_id: "…",
        test_id: sent.test_id,
        to: `GET ${kuaishou.url}/track/activate`,
      },
    });
  });

  test("of a click needs no user, and carries an id that no real conversion has", async () => {
    const given = { ad_platform: "bytedance", event_type: "pay", value_cents: 600, click: { callback: " oe-1 " } };
    const sent = await send({ ...given, device: { os: "android", oaid: "o-1" } });
    const { test_id } = sent;
    expect(engine.accepted).toMatchObject([{ key: "oe-1", dedupeId: test_id, orderId: test_id, cents: 600 }]);
    expect(JSON.parse(sent.request.body)).toMatchObject({
      outer_event_id: test_id,
      context: { device: { platform: "android", oaid: "o-1" } },
    });
    expect((await stage.audit()).at(-1)!.details).toMatchObject({ click: ["callback"], device: ["os", "oaid"] });
  });

  test("carries the platform's mark unless it is to look like a real conversion", async () => {
    const given = { ad_platform: "bytedance", click: { clickid: "oe-2" } };
    const marked = await send(given);
    expect([marked.mark, marked.request.headers["x-debug-mode"]]).toEqual(["x-debug-mode: 1", "1"]);
    const plain = await send({ ...given, mark: "off" });
    expect([plain.mark, plain.request.headers["x-debug-mode"]]).toEqual(["", undefined]);
  });

  test("may name the platform's own code, as a rule does", async () => {
    const sent = await send({ ad_platform: "bytedance", code: "update_level", click: { callback: "oe-3" } });
    expect(JSON.parse(sent.request.body)).toMatchObject({ event_type: "update_level" });
  });

  test("says when real postbacks of the user go through another account", async () => {
    await account("kuaishou", { url: `${kuaishou.url}/track/activate` }, { advertiser_id: "77" });
    expect((await send({ client_id: "u" })).notes).toEqual(["other_account"]);
    expect((await send({ client_id: "u", advertiser_id: "77" })).notes).toEqual([]);
  });
});

describe("the verdict", () => {
  test.each([
    ["server_error", "retry", /HTTP 5/],
    ["not_json", "retry", /cannot be read/],
    ["reset", "no_answer", /connection/i],
  ] as const)("of %s is %s, in words", async (failure, verdict, reason) => {
    kuaishou.fail = () => failure;
    const sent = await send(CLICK);
    expect(sent).toMatchObject({ verdict, reason: expect.stringMatching(reason) });
    expect(sent.answer === null).toBe(failure === "reset");
  });

  test("of a platform that cannot be called is that nothing was sent", async () => {
    await account("kuaishou", { url: "http://127.0.0.1:1/x" }, { advertiser_id: "away" });
    const sent = await send({ ...CLICK, advertiser_id: "away" });
    expect(sent).toMatchObject({ verdict: "not_sent", answer: null, request: { method: "GET" } });
    expect(sent.reason).toMatch(/^The connection failed/);
  });
});

describe("a refused token", () => {
  let vivo: Server;
  const calls: string[] = [];
  beforeAll(async () => {
    vivo = createServer((request, response) => {
      const url = new URL(request.url!, "http://x");
      const isNew = url.searchParams.get("access_token") === "new-token-1";
      calls.push(url.pathname);
      response.setHeader("content-type", "application/json");
      if (url.pathname === "/token")
        response.end('{"code":0,"data":{"access_token":"new-token-1","refresh_token":"new-refresh-1"}}');
      else response.end(isNew ? '{"code":0,"message":"new-token-1"}' : '{"code":10003,"message":"token has expired"}');
    });
    await new Promise<void>((done) => vivo.listen(0, "127.0.0.1", done));
    const url = `http://127.0.0.1:${(vivo.address() as AddressInfo).port}`;
    const settings = { url: `${url}/upload`, token_url: `${url}/token`, src_id: "s", pkg_name: "p", client_id: "c" };
    const secrets = { access_token: "old-token-1", refresh_token: "old-refresh-1", client_secret: "client-secret" };
    await account("vivo", settings, { secrets });
  });
  afterAll(() => new Promise((done) => vivo.close(done)));

  test("is renewed as for a real postback, and neither token is shown", async () => {
    const sent = await send({ ad_platform: "vivo", event_type: "register", device: { oaid: "o-1" } });
    expect(calls).toEqual(["/upload", "/token", "/upload"]);
    expect(sent).toMatchObject({ verdict: "accepted", notes: ["new_token"] });
    expect(sent.request.url).toContain("access_token=…&");
    expect(sent.answer!.body).toBe('{"code":0,"message":"…"}');
    expect(JSON.stringify(sent)).not.toMatch(/old-|new-token|refresh-1|client-secret/);
  });
});

describe("tests", () => {
  test("are sent one at a time per app", async () => {
    let end: (error: Error) => void = () => {};
    const held = new Promise<never>((_, reject) => (end = reject));
    const first = tests.run(app_id, () => held);
    await expect(send(CLICK)).rejects.toThrow("Another test is in progress: wait for its answer.");
    await expect(tests.run(app_id + 1, () => Promise.reject(new Error("begun")))).rejects.toThrow("begun");
    end(new Error("ended"));
    await expect(first).rejects.toThrow("ended");
    expect((await send(CLICK)).verdict).toBe("accepted");
  });

  test("keep to the account's calls per second", async () => {
    await account("kuaishou", { url: `${kuaishou.url}/track/activate` }, { advertiser_id: "slow", rate: 1 });
    const given = { advertiser_id: "slow", click: { callback: "ks-1" } };
    await send(given);
    await expect(send(given)).rejects.toThrow(/calls per second are used up/);
    elapsed.ms += 1_000;
    expect((await send(given)).verdict).toBe("accepted");
  });
});

test.each<[string, Given, RegExp]>([
  ["an unknown app", { app_id: 99, ...CLICK }, /no app 99/],
  ["a platform without accounts", { ad_platform: "weibo", ...CLICK }, /no accounts at "weibo"/],
  ["a platform without postbacks", { ad_platform: "asa", ...CLICK }, /^asa does not accept postbacks/],
  ["an account that does not exist", { advertiser_id: "1", ...CLICK }, /has no such account at kuaishou/],
  ["an unknown conversion", { event_type: "jump", ...CLICK }, /^event_type must be one of activate, register/],
  ["a code that is none", { code: "a b", ...CLICK }, /^code must be at most 100/],
  ["an unknown user", { client_id: "nobody" }, /^There is no user with this client_id/],
  ["an organic user", { client_id: "organic" }, /^This user is organic/],
  [
    "a user of another platform",
    { ad_platform: "bytedance", client_id: "u" },
    /^This user came from kuaishou, not from b/,
  ],
  ["a user without a click", { client_id: "bare" }, /^Nothing can be sent: The touch brought no callback/],
  ["neither user nor click", {}, /^Name a user by client_id, or a click by one of its keys at kuaishou: callback/],
  ["a click without a value", { click: { callback: " " } }, /^Name a user by client_id/],
  ["both a user and a click", { client_id: "u", ...CLICK }, /^Name either client_id or a click/],
  ["a field that clicks do not have", { click: { callbak: "x" } }, /no field "callbak"; a click's keys are callback/],
  ["a device field that does not exist", { ...CLICK, device: { oiad: "x" } }, /no field "oiad"/],
  ["an address that is none", { ...CLICK, device: { ip: "here" } }, /ip is not an address/],
  ["an endless key", { click: { callback: "x".repeat(9_000) } }, /longer than 8192 bytes/],
  ["a foreign callback", { click: { callback: "https://evil.example/x" } }, /host is not one of the platform's/],
  [
    "a payment without its amount",
    { event_type: "pay", ...CLICK },
    /^Nothing can be sent: Kuaishou accepts pay only with/,
  ],
])("%s is refused from every caller; nothing is sent or noted", async (_, given, sentence) => {
  const [before, calls] = [await stage.count("audit_log"), kuaishou.calls + engine.calls];
  await expect(send(given)).rejects.toThrow(sentence);
  expect([await stage.count("audit_log"), kuaishou.calls + engine.calls]).toEqual([before, calls]);
});

test("an account with postbacks off is refused, and so is an address of a private network", async () => {
  await account("kuaishou", { url: kuaishou.url }, { advertiser_id: "off", postbacks: "off" });
  const before = await stage.count("audit_log");
  await expect(send({ ...CLICK, advertiser_id: "off" })).rejects.toThrow(/^This account sends no postbacks/);
  const guarded = deskOf({ mayCallPrivate: false });
  await expect(send(CLICK, guarded, false)).rejects.toThrow(/127\.0\.0\.1 is an address of a private network/);
  expect(await stage.count("audit_log")).toBe(before);
});

test("nothing is sent that cannot be noted", async () => {
  await stage.withoutAuditLog(async () => {
    await expect(send(CLICK)).rejects.toThrow(/audit_log/);
  });
  expect(kuaishou.accepted).toEqual([]);
});
