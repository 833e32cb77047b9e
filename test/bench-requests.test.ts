import { expect, test } from "vitest";
import { collectBody, postRequest } from "../bench/bodies.ts";
import { linkRequest } from "../bench/links.ts";
import { processorSeconds } from "../bench/processor-time.ts";
import { bytesOf, Requests, slot, template } from "../bench/template.ts";
import { scriptOf } from "../bench/wrk.ts";
import type { JsonObject } from "../src/domain/json.ts";

const NOW_MS = Date.UTC(2026, 10, 17);

test("slots count requests, cycle, and keep their width", () => {
  const made = template`a${slot(3)}b${slot(2, { modulo: 2, offset: 40 })}c${slot(1, { divide: 2, modulo: 10 })}`;
  const requests = new Requests(made);
  const texts = Array.from({ length: 4 }, () => requests.next().toString());
  expect(texts).toEqual(["a000b40c0", "a001b41c0", "a002b40c1", "a003b41c1"]);
  expect(bytesOf(made)).toBe(9);
});

test("requests that somebody else makes are left out", () => {
  const requests = new Requests(template`${slot(4)}`);
  requests.next();
  expect(requests.take(10)).toBe(1);
  expect(requests.next().toString()).toBe("0011");
});

test("the events of bodies are valid JSON, each with a number of its own, from clients in turn", () => {
  const requests = new Requests(collectBody({ eventsPerBody: 3, firstSequence: 500, nowMs: NOW_MS, clients: 2 }));
  const bodies = Array.from({ length: 3 }, () => JSON.parse(requests.next().toString()) as JsonObject);
  expect(bodies.map(({ client_id }) => client_id)).toEqual([
    "client-000000000",
    "client-000000001",
    "client-000000000",
  ]);
  const events = bodies.flatMap(({ event_list }) => event_list as { time: number; properties: { sequence: number } }[]);
  expect(events.map(({ properties }) => properties.sequence - 10 ** 9)).toEqual([
    500, 501, 502, 503, 504, 505, 506, 507, 508,
  ]);
  expect(new Set(events.map(({ time }) => time))).toEqual(new Set([NOW_MS]));
});

test("a request declares the length of its body", () => {
  const body = collectBody({ eventsPerBody: 2, firstSequence: 0, nowMs: NOW_MS });
  const [head, sent] = new Requests(postRequest("/collect", body)).next().toString().split("\r\n\r\n");
  expect(head).toContain(`content-length: ${sent!.length}`);
});

test("link calls differ in their click and device", () => {
  const requests = new Requests(linkRequest({ appId: 1, nowMs: NOW_MS }));
  const queries = Array.from({ length: 3 }, () => new URLSearchParams(requests.next().toString().split(/[? ]/)[2]));
  for (const name of ["click_id", "req_id", "oaid_md5", "ip"]) {
    expect(new Set(queries.map((query) => query.get(name))).size, name).toBe(3);
  }
  expect(queries[0]!.get("oaid_md5")).toHaveLength(32);
});

test("the script for wrk has the same pieces and slots, and starts where told", () => {
  const made = template`say "${slot(3, { perRequest: 2, index: 1, divide: 4, modulo: 8, offset: 9 })}"\r\n`;
  const script = scriptOf(made, { first: 42, delayMs: undefined });
  expect(script).toContain(String.raw`local text = {"say \"","","\"\r\n","",}`);
  expect(script).toContain(`local slots = {{"%03.0f",2,1,4,8,9}}`);
  expect(script).toContain("local number = 42");
  expect(script).not.toContain("delay");
  expect(scriptOf(made, { first: 0, delayMs: 8 })).toContain("math.random(0, 16)");
});

test("the processor time of a process grows while it works, and that of an unknown process is 0", () => {
  const before = processorSeconds(process.pid);
  for (let now = before; now <= before; now = processorSeconds(process.pid));
  expect(processorSeconds(process.pid)).toBeGreaterThan(before);
  expect(processorSeconds(2 ** 30)).toBe(0);
});
