import { expect, test } from "vitest";
import type { LiveCall } from "../../../src/contract/live.ts";
import { Live } from "../../../src/http/live/live.ts";
import { LiveRelay } from "../../../src/http/live/live-relay.ts";
import type { AnsweredCall } from "../../../src/http/live/told.ts";
import type { Watched } from "../../../src/http/live/watching.ts";
import type { LogBus } from "../../../src/journal/log-bus.ts";

const NOW = Date.UTC(2024, 5, 15);
const ALL: Watched = { appId: 7, clientId: "", event: "", scope: "all" };

/** Processes that hear each other at once. */
class Room {
  readonly #ears: { by: number; topic: string; heard: (text: string) => void }[] = [];
  readonly #answers: { by: number; topic: string; answerOf: (text: string) => string }[] = [];

  bus(by: number): LogBus {
    return {
      say: (topic, text) => {
        for (const ear of this.#ears) if (ear.by !== by && ear.topic === topic) ear.heard(text);
      },
      hear: (topic, heard) => void this.#ears.push({ by, topic, heard }),
      ask: async (topic, text) =>
        this.#answers.flatMap((one) => (one.by !== by && one.topic === topic ? [one.answerOf(text)] : [])),
      answer: (topic, answerOf) => void this.#answers.push({ by, topic, answerOf }),
    };
  }
}

const answered = (client: string, atMs = NOW): AnsweredCall => ({
  appId: 7,
  at_ms: atMs,
  client_id: client,
  endpoint: "event/collect",
  debug: false,
  code: 0,
  msg: "success",
  ip: "",
  ua: "",
  errors: [],
  body: () => ({ client_id: client, event_list: [] }),
  bytes: 20,
});

function twoProcesses() {
  const room = new Room();
  let nowMs = NOW;
  const lives = [new Live(NOW), new Live(NOW)] as const;
  const relays = lives.map((live, by) => new LiveRelay(live, room.bus(by), () => nowMs));
  return { lives, relays, pass: (ms: number) => (nowMs += ms) };
}

test("whoever watches at one process sees the calls of the other, until nobody watches any more", async () => {
  const { lives, relays, pass } = twoProcesses();
  const [here, there] = lives;
  const seen: string[] = [];
  try {
    const watch = here.watch(ALL, { tell: ({ call }) => seen.push(call.client_id), end: () => {} })!;
    await expect.poll(() => there.isQuiet(7, NOW - 1)).toBe(false);
    await expect
      .poll(() => {
        there.publish(answered("far"));
        return seen;
      })
      .toContain("far");
    here.publish(answered("near"));
    await expect.poll(() => seen).toContain("near");
    expect(seen.filter((client) => client === "near")).toHaveLength(1);
    expect([here.watchers, there.watchers]).toEqual([1, 0]);
    watch.stop();
    pass(10_000);
    // The other process stops watching for it, and so becomes quiet between samples.
    await expect
      .poll(() => {
        for (let number = 0; number < 60; number += 1) there.publish(answered("sampled"));
        return there.isQuiet(7, NOW);
      })
      .toBe(true);
  } finally {
    for (const relay of relays) relay.close();
  }
});

test("the remembered calls of all processes are told together, oldest first", async () => {
  const { lives, relays } = twoProcesses();
  lives[0].publish(answered("later", NOW + 5));
  lives[1].publish(answered("earlier", NOW + 1));
  const clients = async () => (await relays[0]!.recent(7, 1_000_000)).map(({ client_id }: LiveCall) => client_id);
  await expect.poll(clients).toEqual(["earlier", "later"]);
  for (const relay of relays) relay.close();
});
