import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Callback, storeCallback } from "../../src/db/callback.ts";
import { Sender } from "../../src/outbound/sender.ts";
import { NOW_MS, pay, track } from "../db/apply-stage.ts";
import { vault } from "../db/temp-database.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { Gate, type GateAnswer } from "./gate.ts";
import { BACK_OFF_MS, PostbackStage } from "./postback-stage.ts";

let stage: PostbackStage;
let gate: Gate;
beforeAll(async () => {
  stage = await PostbackStage.open();
});
beforeEach(async () => {
  await stage.begin();
  gate = await Gate.open();
  gate.answer = { status: 200, body: "" };
});
afterEach(() => gate.close());
afterAll(() => stage.close());

async function callback(change: Partial<Callback>): Promise<void> {
  const plain = { kind: "event" as const, secret: "s3cret", events: ["level"], enabled: true };
  await storeCallback(
    stage.pool,
    vault,
    { appId: stage.stage.app.appId, url: `${gate.url}/told`, ...plain, ...change },
    0,
  );
}

const allowed = () => stage.worker({ mayCallPrivate: { platforms: true, callbacks: true } });

async function oneEvent(): Promise<void> {
  await stage.stage.register("u");
  await stage.stage.collect("u", [track("level", { n: 3 })]);
  await stage.stage.applyAll();
}

describe("an attribution callback", () => {
  const MACROS =
    "c=__CLIENT_ID__&p=__AD_PLATFORM__&m=__METHOD__&a=__AID__&t=__TOUCHED_AT__&r=__REGISTERED_AT__&i=__ID__";

  test("is a GET with each macro replaced and encoded, and everything else left alone", async () => {
    await callback({ kind: "attribution", url: `${gate.url}/told?${MACROS}&o=__OTHER__&ch=__CHANNEL__` });
    const at = NOW_MS - 60_000;
    await stage.stage.append("click", "", `company=tencent&click_id=c1&aid=7&ts=${at}`, { at });
    await stage.stage.register("u/1 &x=中", { channel: "a b&c", ad_data: { gdt_vid: "c1" } });
    await stage.stage.applyAll();
    await stage.send(allowed());
    expect(gate.calls).toHaveLength(1);
    expect(gate.calls[0]!.method).toBe("GET");
    const query = new URL(gate.calls[0]!.target, gate.url).searchParams;
    expect(Object.fromEntries(query)).toEqual({
      c: "u/1 &x=中",
      p: "tencent",
      m: "click_key",
      a: "7",
      t: String(at),
      r: String(NOW_MS),
      o: "__OTHER__",
      ch: "a b&c",
      i: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(await stage.postbacks("event_type, status, ad_platform")).toEqual([
      { event_type: "$attribution", status: 1, ad_platform: "" },
    ]);
  });

  test("comes once for each source, no matter how often the user is decided on", async () => {
    await callback({ kind: "attribution", url: `${gate.url}/told?p=__AD_PLATFORM__` });
    const worker = allowed();
    await stage.stage.register("u", { device_info: { oaid: "o-u" } });
    await stage.stage.applyAll();
    await stage.send(worker);
    await stage.stage.append("update_data", "u", { wx_openid: "open" });
    await stage.stage.append("click", "", `company=tencent&click_id=c&oaid=o-u&ts=${NOW_MS - 5}`, { at: NOW_MS });
    await stage.stage.applyAll();
    await stage.stage.register("u");
    await stage.stage.applyAll();
    await stage.sendAll(worker);
    expect(gate.calls.map(({ target }) => target)).toEqual(["/told?p=", "/told?p=tencent"]);
  });
});

describe("an event callback", () => {
  test("is a POST signed with the time, with the event and its user's source", async () => {
    await callback({});
    await stage.bring("tencent", "u");
    await stage.stage.collect("u", [track("level", { n: 3 }), track("other"), pay("o1", 600)]);
    await stage.stage.applyAll();
    stage.nowMs += 1_500;
    await stage.send(allowed());
    expect(gate.calls).toHaveLength(1);
    const { method, headers, body } = gate.calls[0]!;
    expect([method, headers["content-type"]]).toEqual(["POST", "application/json"]);
    const timestamp = headers["touchpoint-timestamp"] as string;
    expect(timestamp).toBe(String(Math.floor(stage.nowMs / 1000)));
    const signature = createHmac("sha256", "s3cret").update(`${timestamp}.${body}`).digest("hex");
    expect(headers["touchpoint-signature"]).toBe(signature);
    expect(JSON.parse(body)).toMatchObject({
      app_id: stage.stage.app.appId,
      client_id: "u",
      event: "level",
      time: NOW_MS,
      properties: { n: 3 },
      id: headers["touchpoint-id"],
      attribution: { ad_platform: "tencent", channel: "c" },
    });
    // Neither the order nor the ad report counts it as a postback.
    expect(await stage.orders()).toEqual([{ trace_id: "o1", postback_status: 0, back_cents: 0 }]);
  });

  test.each<[GateAnswer, number, boolean]>([
    [{ status: 204, body: "" }, 1, false],
    [{ status: 302, headers: { location: "/elsewhere" } }, 0, true],
    [{ status: 400 }, 2, false],
    [{ status: 404 }, 2, false],
    [{ status: 408 }, 0, true],
    [{ status: 429 }, 0, true],
    [{ status: 500 }, 0, true],
    [{ status: 503 }, 0, true],
  ])("is answered with %j: status %i, retried: %j", async (answer, status, isAgain) => {
    gate.answer = answer;
    await callback({});
    await oneEvent();
    await stage.send(allowed());
    expect(gate.calls.map(({ target }) => target)).toEqual(["/told"]);
    expect(await stage.postbacks("status")).toEqual([{ status }]);
    const due = isAgain ? [{ due_at_ms: NOW_MS + BACK_OFF_MS[0]! }] : [];
    expect(await stage.outbox("due_at_ms")).toEqual(due);
  });

  test("is retried with the same id", async () => {
    gate.answer = { status: 500 };
    await callback({});
    await oneEvent();
    const worker = allowed();
    await stage.send(worker);
    gate.answer = { status: 200 };
    await stage.sendAll(worker);
    const ids = gate.calls.map(({ headers }) => headers["touchpoint-id"]);
    expect(ids).toEqual([ids[0], ids[0]]);
  });
});

describe("a private network", () => {
  test.each(["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"])(
    "is not called as %s",
    async (host) => {
      await callback({ url: `${gate.url.replace("127.0.0.1", host)}/told` });
      await oneEvent();
      await stage.send(stage.worker());
      expect(gate.calls).toEqual([]);
      expect(await stage.postbacks("status, reason")).toEqual([
        { status: 0, reason: expect.stringMatching(/private network/) },
      ]);
    },
  );

  test("a host name is judged by the address that it resolves to", async () => {
    const asked: string[] = [];
    const sender = new Sender({
      deadlineMs: PATIENCE_MS,
      connectionsMax: 1,
      mayCall: (address) => {
        asked.push(address);
        return address === "127.0.0.1";
      },
    });
    const request = { method: "GET" as const, url: gate.url.replace("127.0.0.1", "localhost"), headers: {} };
    expect((await sender.send(request, "fresh")).kind).toBe("reply");
    expect(asked).toContain("127.0.0.1");
    sender.close();
  });
});

describe("a sender", () => {
  const request = (url: string) => ({ method: "GET" as const, url, headers: {} });
  const sender = (deadlineMs = PATIENCE_MS) => new Sender({ deadlineMs, connectionsMax: 4, mayCall: () => true });

  test("knows which requests were sent and which were not", async () => {
    const mine = sender(1_000);
    expect(await mine.send(request("http://127.0.0.1:9/"), "kept")).toMatchObject({ kind: "not_sent" });
    gate.answer = undefined;
    expect(await mine.send(request(gate.url), "kept")).toEqual({ kind: "unknown", reason: "No answer within 1 s." });
    mine.close();
  });

  test("waits for the end of an answer no longer than for its beginning", async () => {
    const slow = createServer((_, response) => response.writeHead(200).write("It begins."));
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const { port } = slow.address() as AddressInfo;
    const mine = sender(1_000);
    expect(await mine.send(request(`http://127.0.0.1:${port}/`), "kept")).toEqual({
      kind: "unknown",
      reason: "No answer within 1 s.",
    });
    mine.close();
    slow.close();
  });

  test("does not read an endless answer", async () => {
    gate.answer = { status: 200, body: "x".repeat(1024 * 1024 + 1) };
    const mine = sender();
    expect(await mine.send(request(gate.url), "fresh")).toMatchObject({
      kind: "unknown",
      reason: "The answer is too long.",
    });
    gate.answer = { status: 200, body: "x".repeat(1024 * 1024) };
    expect((await mine.send(request(gate.url), "fresh")).kind).toBe("reply");
    mine.close();
  });
});
