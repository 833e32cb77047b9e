import type { Attack } from "../../attack.ts";

const EVENTS = 100;

export const oneApp: Attack = {
  name: "flooded_app",
  point: "5",
  by: "the owner of another app",
  what: "events of one app as fast as they are taken, 100 in a call, from 32 connections",
  holds: "the flooded app is told to wait; no other app is",
  async strike({ target, caller, repeat }) {
    const { accessToken } = target.own;
    const clients = Array.from({ length: 20 }, (_, number) => `flood-${number}`);
    await Promise.all(clients.map((clientId) => caller.register(accessToken, clientId)));
    await repeat(32, async (number) => {
      const time = Date.now();
      const event_list = Array.from({ length: EVENTS }, (_, index) => ({
        type: "track",
        event: "flood",
        time,
        properties: { number, index, text: "some words that take a little room" },
      }));
      await caller.collect(accessToken, "event/collect/", { client_id: clients[number % clients.length], event_list });
    });
  },
};
