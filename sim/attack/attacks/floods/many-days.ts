import { setTimeout as sleep } from "node:timers/promises";
import type { Attack } from "../../attack.ts";

const CLIENT = "many-days";
const DAYS = 4_000;
const DAY_MS = 86_400_000;
const EVENTS = 500;
const PARTITIONS_MAX = 400;
/** This attack is about the number of days; another one is about the number of events. */
const PAUSE_MS = 50;

export const manyDays: Attack = {
  name: "many_days",
  point: "7",
  by: "the owner of another app",
  what: `events with time_free on ${DAYS} different days`,
  holds: `far days share partitions: there are never more than ${PARTITIONS_MAX}`,
  async strike({ target, caller, repeat }) {
    const { accessToken } = target.own;
    await caller.register(accessToken, CLIENT);
    await repeat(1, async (number) => {
      const nowMs = Date.now();
      const event_list = Array.from({ length: EVENTS }, (_, index) => {
        const day = (number * EVENTS + index) % DAYS;
        return { type: "track", event: "e", time: nowMs - day * DAY_MS, time_free: true, properties: { day, number } };
      });
      await caller.collect(accessToken, "event/collect/", { client_id: CLIENT, event_list });
      await sleep(PAUSE_MS);
    });
  },
  async check({ stage }) {
    const { rows } = await stage.pool.query(
      "select count(*)::int as count from pg_inherits where inhparent in ('event'::regclass, 'touch'::regclass)",
    );
    const { count } = rows[0];
    return count <= PARTITIONS_MAX ? [] : [`there are ${count} partitions`];
  },
};
