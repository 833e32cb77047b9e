import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type AsaAnswer, readAnswer, resolveTokens } from "../../../src/asa/resolver.ts";
import type { App } from "../../../src/db/app.ts";
import { loadUsers } from "../../../src/db/user-account.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS } from "../../db/apply-stage.ts";
import { eventually } from "../../support/patience.ts";
import { cleanUp, TouchpointProcess } from "../../support/touchpoint.ts";
import type { Row } from "../fixture.ts";

const PAYLOAD = {
  attribution: true,
  orgId: 40669820,
  campaignId: 542370539,
  adGroupId: 542317095,
  adId: 542317136,
  keywordId: 87675432,
  conversionType: "Download",
  countryOrRegion: "US",
  claimType: "Click",
};
const CLICK_DATE = "2026-01-11T06:41Z";

/** Apple's answers to a token, in order; the last one repeats. */
type Script = Record<string, [status: number, body: unknown][]>;

/** A stand-in for Apple that answers by script and records the calls. */
class Apple {
  readonly asked: { token: string; method: string; contentType: string; atMs: number }[] = [];
  script: Script = {};
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async open(): Promise<Apple> {
    const apple = new Apple();
    await once(apple.#server.listen(0, "127.0.0.1"), "listening");
    return apple;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v1/`;
  }

  timesAsked(token: string): number {
    return this.asked.filter((one) => one.token === token).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = await text(request);
    const answers = this.script[token] ?? [[400, ""]];
    const [status, body] = answers[Math.min(this.timesAsked(token), answers.length - 1)]!;
    const contentType = request.headers["content-type"] ?? "";
    this.asked.push({ token, method: request.method!, contentType, atMs: Date.now() });
    response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const ATTRIBUTED: [number, unknown] = [200, PAYLOAD];
const NOT_FOUND: [number, unknown] = [404, ""];

describe("the meaning of Apple's answer:", () => {
  test.each<[string, number, unknown, AsaAnswer]>([
    ["attributed", 200, PAYLOAD, { kind: "resolved", outcome: "attributed", attribution: PAYLOAD }],
    ["not attributed", 200, { attribution: false }, { kind: "resolved", outcome: "not_attributed" }],
    ["no word on it", 200, { orgId: 1 }, { kind: "resolved", outcome: "not_attributed" }],
    ["a development build", 200, { ...PAYLOAD, campaignId: 1234567890 }, { kind: "resolved", outcome: "test" }],
    ["the same, as text", 200, { ...PAYLOAD, campaignId: "1234567890" }, { kind: "resolved", outcome: "test" }],
    ["a bad token", 400, "", { kind: "resolved", outcome: "invalid" }],
    ["not found yet", 404, "", { kind: "not_found" }],
    ["an error of the server", 500, "", { kind: "unanswered" }],
    ["an error of its gateway", 503, PAYLOAD, { kind: "unanswered" }],
    ["too many questions", 429, "", { kind: "unanswered" }],
    ["no JSON", 200, "<html>", { kind: "unanswered" }],
    ["nothing", 200, "", { kind: "unanswered" }],
    ["a list", 200, [PAYLOAD], { kind: "unanswered" }],
    ["null", 200, null, { kind: "unanswered" }],
  ])("%s (%i)", (_, status, body, expected) => {
    expect(readAnswer(status, typeof body === "string" ? body : JSON.stringify(body))).toEqual(expected);
  });
});

describe("tokens sent with initialize", () => {
  const SCRIPT: Script = {
    attributed: [[200, { ...PAYLOAD, clickDate: CLICK_DATE }]],
    slow: [NOT_FOUND, NOT_FOUND, ATTRIBUTED],
    never: [NOT_FOUND],
    invalid: [[400, "bad token"]],
    organic: [[200, { attribution: false }]],
    test: [[200, { ...PAYLOAD, orgId: 1234567890, campaignId: 1234567890 }]],
    broken: [[500, ""]],
  };
  const CLIENTS = Object.keys(SCRIPT);
  let apple: Apple;
  let server: TouchpointProcess;
  let app: App;

  const initialize = (client_id: string, asa_token = client_id) =>
    server.post("user/initialize/", app, { client_id, name: "n", channel: "c", version: 1, asa_token });
  const lookUp = async (clientId: string): Promise<Row> => (await server.lookUp(app, clientId))[0];
  const outcomes = async () => {
    const pool = server.database();
    try {
      const { rows } = await pool.query("select client_id, outcome, token from asa_token order by client_id");
      return Object.fromEntries(rows.map((row) => [row.client_id, `${row.outcome}${row.token === "" ? "" : " kept"}`]));
    } finally {
      await pool.end();
    }
  };

  /** Sends all tokens at once: those not found are each asked for again after 5 seconds. */
  beforeAll(async () => {
    apple = await Apple.open();
    apple.script = SCRIPT;
    server = await TouchpointProcess.start({ env: { APPLE_ATTRIBUTION_URL: apple.url } });
    app = await server.createApp();
    for (const client of CLIENTS) expect(await initialize(client)).toMatchObject({ code: 0 });
    const isDone = async () => expect(await outcomes()).toMatchObject({ slow: "attributed", never: "not_found" });
    await eventually(isDone);
  });

  afterAll(async () => {
    const code = await server?.stop();
    if (server) await cleanUp(server.dataDir);
    await apple?.close();
    expect(code).toBe(0);
  });

  test("an attributed user belongs to asa, with Apple's ids and the time of the tap", async () => {
    expect(await lookUp("attributed")).toMatchObject({
      click_company: "asa",
      advertiser_id: "40669820",
      gid: "542370539",
      aid: "542317136",
      cid: "87675432",
      asa: {
        attribution: "true",
        orgId: "40669820",
        campaignId: "542370539",
        adGroupId: "542317095",
        adId: "542317136",
        keywordId: "87675432",
        conversionType: "Download",
        countryOrRegion: "US",
        clickDate: CLICK_DATE,
      },
    });
  });

  test("a token found at the third try counts, with 5 seconds between the tries", async () => {
    expect(await lookUp("slow")).toMatchObject({ click_company: "asa", asa: { campaignId: "542370539" } });
    const [first, second, third] = apple.asked.filter(({ token }) => token === "slow").map(({ atMs }) => atMs);
    for (const gapMs of [second! - first!, third! - second!]) expect(gapMs).toBeGreaterThanOrEqual(4_900);
  });

  test.each(["never", "invalid", "organic", "test", "broken"])(
    "a user whose token is %s is organic",
    async (client) => {
      expect(await lookUp(client)).toMatchObject({ click_company: "", advertiser_id: "", aid: "" });
    },
  );

  test("the outcome of each token is kept, but the token itself only while it waits", async () => {
    expect(await outcomes()).toEqual({
      attributed: "attributed",
      slow: "attributed",
      never: "not_found",
      invalid: "invalid",
      organic: "not_attributed",
      test: "test",
      broken: " kept",
    });
  });

  test("a token is resolved once, even if the client sends it again", async () => {
    for (const client of CLIENTS) await initialize(client);
    await initialize("next", "another token");
    await expect.poll(() => apple.timesAsked("another token")).toBe(1);
    const once = ["attributed", "invalid", "organic", "test"];
    expect(once.map((token) => [token, apple.timesAsked(token)])).toEqual(once.map((token) => [token, 1]));
    expect(apple.timesAsked("never")).toBe(3);
    const [first, second = Number.POSITIVE_INFINITY] = apple.asked
      .filter(({ token }) => token === "broken")
      .map(({ atMs }) => atMs);
    expect(second - first!, "nor is one asked for early that was not answered").toBeGreaterThanOrEqual(59_900);
  });

  test("Apple is called by POST, with only the token as plain text", () => {
    for (const { token, method, contentType } of apple.asked)
      expect([method, contentType, token]).toEqual(["POST", "text/plain", expect.stringMatching(/^[a-z ]+$/)]);
  });
});

describe("retries", () => {
  let apple: Apple;
  let stage: ApplyStage;
  let nowMs: number;
  beforeAll(async () => {
    [apple, stage] = [await Apple.open(), await ApplyStage.open()];
  });
  beforeEach(async () => {
    await stage.begin();
    apple.asked.length = 0;
    nowMs = NOW_MS;
  });
  afterAll(async () => {
    await stage.close();
    await apple.close();
  });

  const initialize = async (client: string, more: object = {}) => {
    const body = { client_id: client, name: "n", channel: "c", version: 1, asa_token: client, ...more };
    await stage.append("initialize", client, body);
    await stage.applyAll();
  };

  /** Runs one turn of the resolver at this time, and applies its result. */
  async function turnAt(atMs: number, url = apple.url): Promise<number> {
    nowMs = atMs;
    const asked = await resolveTokens({
      pool: stage.pool,
      clock: () => nowMs,
      url,
      accept: async ({ clientId, appId: _, ...result }) => {
        await stage.append("apple_attribution", clientId, result, { at: nowMs });
      },
    });
    await stage.applyAll();
    return asked;
  }

  const userOf = async (clientId: string) => (await loadUsers(stage.pool, [{ appId: stage.app.appId, clientId }]))[0]!;
  const outcomeOf = async (clientId: string) =>
    (await stage.pool.query("select outcome from asa_token where client_id = $1", [clientId])).rows[0]?.outcome;

  test("an error of Apple's server is retried after a minute, then at growing intervals", async () => {
    apple.script = { u: [[500, ""], [503, ""], ATTRIBUTED] };
    await initialize("u");
    expect(await turnAt(NOW_MS)).toBe(1);
    expect(await turnAt(NOW_MS + 59_999)).toBe(0);
    expect(await turnAt(NOW_MS + 60_000)).toBe(1);
    expect(await turnAt(NOW_MS + 60_000 + 299_999)).toBe(0);
    expect(await turnAt(NOW_MS + 60_000 + 300_000)).toBe(1);
    expect(await userOf("u")).toMatchObject({ adPlatform: "asa", gid: "542370539", touchedAtMs: null });
    expect(await turnAt(NOW_MS + DAY_MS)).toBe(0);
  });

  test("an unreachable Apple counts as an error, and after 24 hours the token is abandoned", async () => {
    await initialize("u");
    const nowhere = "http://127.0.0.1:9/";
    expect(await turnAt(NOW_MS, nowhere)).toBe(1);
    expect(await outcomeOf("u")).toBe("");
    expect(await turnAt(NOW_MS + DAY_MS - 60_000, nowhere)).toBe(1);
    expect(await outcomeOf("u")).toBe("expired");
    expect(await turnAt(NOW_MS + 2 * DAY_MS)).toBe(0);
    expect(apple.asked).toEqual([]);
  });

  test("a token whose answer was lost is tried again when its lease ends", async () => {
    apple.script = { u: [ATTRIBUTED] };
    await initialize("u");
    const deps = { pool: stage.pool, clock: () => NOW_MS, url: apple.url };
    const lost = resolveTokens({ ...deps, accept: () => Promise.reject(new Error("The journal is full.")) });
    await expect(lost).rejects.toThrow("The journal is full.");
    expect(await turnAt(NOW_MS + 59_999)).toBe(0);
    expect(await turnAt(NOW_MS + 60_000)).toBe(1);
    expect((await userOf("u")).adPlatform).toBe("asa");
  });

  test("a touch of the same device and the launch query are surer than Apple's answer", async () => {
    apple.script = { device: [ATTRIBUTED], query: [ATTRIBUTED] };
    await stage.append("click", "", `company=vivo&idfa=IDFA-1&ts=${NOW_MS - HOUR_MS}`, { at: NOW_MS - HOUR_MS });
    await initialize("device", { device_info: { os_name: "ios", idfa: "IDFA-1" } });
    await initialize("query", { ad_data: { bd_vid: "v" } });
    expect(await turnAt(NOW_MS)).toBe(2);
    expect([await userOf("device"), await userOf("query")]).toMatchObject([
      { adPlatform: "vivo", method: "device_id" },
      { adPlatform: "baidu", method: "launch_query" },
    ]);
  });

  test("a client that is renamed while its token waits is attributed under the new id", async () => {
    apple.script = { old: [ATTRIBUTED] };
    await initialize("old");
    await stage.append("reset_client_id", "old", { new_client_id: "new" });
    await stage.applyAll();
    expect(await turnAt(NOW_MS)).toBe(1);
    expect(await userOf("new")).toMatchObject({ adPlatform: "asa", method: "launch_query" });
  });

  test.each<[string, object]>([
    ["empty", { asa_token: "" }],
    ["too long to be one", { asa_token: "t".repeat(5_000) }],
    ["no text", { asa_token: { a: 1 } }],
  ])("a token that is %s is not resolved", async (_, more) => {
    await initialize("u", more);
    expect(await turnAt(NOW_MS)).toBe(0);
  });
});
