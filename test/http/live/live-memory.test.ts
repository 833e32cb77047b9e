import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { LiveCall } from "../../../src/contract/live.ts";
import { Live } from "../../../src/http/live/live.ts";
import type { AnsweredCall } from "../../../src/http/live/told.ts";
import type { Watched } from "../../../src/http/live/watching.ts";
import { LIMITS } from "../../../src/limits.ts";

const APP = 10_000_001;
const NOW = 1_800_000_000_000;
const ALL: Watched = { appId: APP, clientId: "", event: "", scope: "all" };

let live: Live;
beforeEach(() => {
  live = new Live(NOW);
});

function callOf(more: Partial<AnsweredCall> = {}): AnsweredCall {
  const event = { type: "track", event: "level_up", time: NOW, properties: {} };
  return {
    appId: APP,
    at_ms: NOW,
    endpoint: "event/collect",
    client_id: "u",
    debug: false,
    ip: "",
    ua: "",
    code: 0,
    msg: "",
    errors: [],
    bytes: 100,
    body: () => ({ client_id: "u", event_list: [event] }),
    ...more,
  };
}

/** Exactly as many as are remembered at once. */
const AT_ONCE = 50;
const together = (more: Partial<AnsweredCall> = {}) => Array.from({ length: AT_ONCE }, () => callOf(more));

async function publish(...calls: AnsweredCall[]): Promise<void> {
  for (const call of calls) live.publish(call);
  const bytes = calls.reduce((sum, call) => sum + call.bytes, 0);
  for (let turns = 0; turns <= bytes / LIMITS.liveTurnBytes; turns += 1) await nextTurn();
}

function watch(watched: Partial<Watched> = {}, afterId?: number) {
  const seen: LiveCall[] = [];
  const end = vi.fn();
  const watching = live.watch({ ...ALL, ...watched }, { tell: ({ call }) => seen.push(call), end }, afterId);
  return { seen, end, stop: () => watching!.stop(), missed: () => watching!.takeMissed() };
}

describe("while nobody watches", () => {
  test("an app is quiet between samples, each app by itself", async () => {
    expect(live.isQuiet(APP, NOW)).toBe(false);
    await publish(...together());
    expect(live.isQuiet(APP, NOW + 249)).toBe(true);
    expect(live.isQuiet(APP + 1, NOW + 249)).toBe(false);
    expect(live.isQuiet(APP, NOW + 250)).toBe(false);
  });

  test("all first calls are remembered, then a sample, which is larger for faulty calls", async () => {
    const errors = [{ index: 0, event: "x", reason: "too_old", message: "…" }];
    await publish(...together(), ...together({ errors }));
    for (let ms = 0; ms <= 1_000; ms += 10) {
      await publish(callOf({ at_ms: NOW + ms }), callOf({ at_ms: NOW + ms, errors }));
    }
    const remembered = live.recent(APP, 1e9);
    expect(remembered.filter((call) => call.errors.length === 0)).toHaveLength(AT_ONCE + 4);
    expect(remembered.filter((call) => call.errors.length > 0)).toHaveLength(AT_ONCE + 20);
  });

  test("after a while of silence it starts over", async () => {
    await publish(...together(), callOf());
    expect(live.recent(APP, 1e9)).toHaveLength(AT_ONCE);
    await publish(...together({ at_ms: NOW + 60_000 }), callOf({ at_ms: NOW + 60_000 }));
    expect(live.recent(APP, 1e9)).toHaveLength(2 * AT_ONCE);
  });

  test("all debug calls are remembered", async () => {
    await publish(...Array.from({ length: 50 }, () => callOf({ debug: true })));
    expect(live.recent(APP, 1e9)).toHaveLength(50);
  });
});

describe("a viewer", () => {
  test("sees what is remembered, then new calls, and nothing after the end", async () => {
    await publish(callOf({ client_id: "before" }));
    const { seen, stop } = watch();
    await publish(callOf({ client_id: "then" }));
    stop();
    await publish(callOf({ client_id: "after" }), ...together());
    expect(seen.map((call) => call.client_id)).toEqual(["before", "then"]);
    expect(live.isQuiet(APP, NOW + 1)).toBe(true);
    const again = watch();
    expect(live.isQuiet(APP, NOW + 1)).toBe(false);
    again.stop();
    expect(live.isQuiet(APP, NOW + 1)).toBe(true);
  });

  test("who comes back sees only what is new since", async () => {
    await publish(callOf({ debug: true }), callOf({ debug: true }));
    const { seen } = watch();
    expect(watch({}, seen[0]!.id).seen).toEqual([seen[1]]);
    expect(seen[0]!.id).toBeGreaterThan(NOW * 1_000);
  });

  test.each<[string, Partial<Watched>, Partial<AnsweredCall>, boolean]>([
    ["of the client", { clientId: "u" }, {}, true],
    ["of another client", { clientId: "v" }, {}, false],
    ["of the event", { event: "level_up" }, {}, true],
    ["of another event", { event: "level" }, {}, false],
    ["of a call by its own name", { event: "click" }, { endpoint: "event/click", body: () => ({}) }, true],
    ["of an event of older clients", { event: "PAY" }, { body: () => ({ event_type: "PAY" }) }, true],
    ["of client and event, one of them wrong", { clientId: "v", event: "level_up" }, {}, false],
    ["of debug mode", { scope: "debug" }, { debug: true }, true],
    ["of no debug mode", { scope: "debug" }, {}, false],
    ["of another app", { appId: APP + 1 }, {}, false],
    ["refused before its client was read", { clientId: "u" }, { client_id: "", code: 2000 }, true],
  ])("a call %s: filter %o, %o shown: %s", async (_, watched, call, isShown) => {
    const { seen } = watch(watched);
    await publish(callOf(call));
    expect(seen).toHaveLength(isShown ? 1 : 0);
  });

  test("gets a limited number of calls per second, all debug calls, and the number left out", async () => {
    const { seen, missed } = watch();
    await publish(...Array.from({ length: LIMITS.liveCallsPerS + 7 }, () => callOf()), callOf({ debug: true }));
    expect(seen).toHaveLength(LIMITS.liveCallsPerS + 1);
    expect([missed(), missed()]).toEqual([7, 0]);
    await publish(callOf({ at_ms: NOW + 1_000 }));
    expect(seen).toHaveLength(LIMITS.liveCallsPerS + 2);
  });

  test("takes one of a limited number of places, which is free again afterwards", () => {
    const watches = Array.from({ length: LIMITS.liveWatchers }, () => watch());
    expect(live.watch(ALL, { tell: () => {}, end: () => {} })).toBeUndefined();
    watches[0]!.stop();
    watches[0]!.stop();
    expect(live.watchers).toBe(LIMITS.liveWatchers - 1);
    expect(live.watch(ALL, { tell: () => {}, end: () => {} })).toBeDefined();
  });

  test("is disconnected when the server stops", () => {
    const { end } = watch();
    live.close();
    expect(end).toHaveBeenCalledOnce();
  });
});

describe("bounds", () => {
  test("the newest calls of an app are remembered, up to a number", async () => {
    await publish(
      ...Array.from({ length: LIMITS.liveCalls + 10 }, (_, index) => callOf({ debug: true, at_ms: index })),
    );
    const recent = live.recent(APP, 1e9);
    expect(recent).toHaveLength(LIMITS.liveCalls);
    expect(recent.at(-1)!.at_ms).toBe(LIMITS.liveCalls + 9);
  });

  test("all apps together share a number of bytes: the largest gives way, and the others keep theirs", async () => {
    await publish(callOf({ appId: APP + 1, debug: true }));
    const large = "x".repeat(100 * 1024);
    for (let index = 0; index < 200; index += 1) {
      await publish(callOf({ debug: true, at_ms: index, body: () => ({ large }), bytes: large.length }));
    }
    const recent = live.recent(APP, 1e9);
    const bytes = recent.reduce((sum, call) => sum + JSON.stringify(call).length, 0);
    expect(bytes).toBeLessThanOrEqual(LIMITS.liveBytes);
    expect(bytes).toBeGreaterThan(LIMITS.liveBytes * 0.9);
    expect(recent.at(-1)!.at_ms).toBe(199);
    expect(live.recent(APP + 1, 1e9)).toHaveLength(1);
    expect(live.recent(APP, 1024 * 1024)).toHaveLength(10);
  });

  test("a body that is too large is not opened at all", async () => {
    const { seen } = watch();
    const body = () => {
      throw new Error("opened");
    };
    await publish(callOf({ body, bytes: LIMITS.liveCallBytes + 1 }));
    expect(seen).toMatchObject([{ body: null }]);
  });

  test("a new viewer gets the newest calls that a stream holds, in order and without waiting", async () => {
    const text = "x".repeat(100 * 1024);
    const most = Math.floor(LIMITS.liveStreamBytes / text.length);
    for (let index = 0; index < 12; index += 1) {
      await publish(callOf({ debug: true, at_ms: index, body: () => ({ text }), bytes: text.length }));
    }
    const told = Array.from({ length: most }, (_, index) => 12 - most + index);
    expect(watch().seen.map((call) => call.at_ms)).toEqual(told);
    await publish(callOf({ debug: true, at_ms: 12, body: () => ({ event_type: "e" }) }));
    expect(watch({ event: "e" }).seen.map((call) => call.at_ms)).toEqual([12]);
  });

  test("more than a turn can show is left out and counted", async () => {
    const { seen, missed } = watch();
    const half = { debug: true, bytes: LIMITS.liveWaitingBytes };
    await publish(callOf(half), callOf(half), callOf(half));
    expect([seen.length, missed()]).toEqual([2, 1]);
    await publish(callOf(half));
    expect(seen).toHaveLength(3);
  });
});

test("an erased client is forgotten, even where another call names it", async () => {
  const lookup = { endpoint: "user/get", client_id: "", body: () => ({ user_list: ["gone", "kept"] }) };
  await publish(callOf({ debug: true, client_id: "gone" }), callOf({ debug: true, ...lookup }));
  live.publish(callOf({ debug: true, client_id: "kept" }));
  live.publish(callOf({ debug: true, client_id: "gone" }));
  live.forget(APP, "gone");
  expect(live.recent(APP, 1e9).map((call) => call.client_id)).toEqual(["kept"]);
});
