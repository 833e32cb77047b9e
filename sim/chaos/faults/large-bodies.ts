import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/clock.ts";
import type { Fault } from "../fault.ts";
import { Guest } from "../guest.ts";
import { until } from "../until.ts";

const CLIENT = "large";
const BODIES = 12;
const EVENTS = 200;
/** Long enough that a body of such texts goes to the thread for large bodies. */
const TEXT = "x".repeat(1_000);
const ENDS_MAX = 4;
const WAIT_MS_MAX = 60;

const body = (number: number) => ({
  client_id: CLIENT,
  event_list: Array.from({ length: EVENTS }, (_, index) => ({
    type: "track",
    event: "large",
    time: systemClock(),
    properties: { text: TEXT, serial: number * EVENTS + index },
  })),
});

const killLargeBodies: Fault = {
  name: "kill_large_bodies",
  what: "the end of the thread that judges large bodies, up to four times while a guest sends them; the one in hand is refused",
  kind: "kill",
  at: "embedded",
  weight: 1,
  async inflict({ site, random, findings }) {
    const guest = await Guest.invite(site);
    findings.equal(1, "a registration", { is: (await guest.register(CLIENT)).code, should: 0 });
    const sending = Array.from({ length: BODIES }, (_, number) => guest.post("event/collect/", body(number)));
    for (let times = random.whole(1, ENDS_MAX); times > 0; times -= 1) {
      await sleep(random.whole(0, WAIT_MS_MAX));
      await site.server.endThread("large_bodies");
    }
    const answers = await Promise.all(sending);
    const others = answers.filter(({ status, code }) => status !== 503 && code !== 0);
    findings.equal(8, "answers to large bodies but for 0 and 503", { is: others, should: [] });
    const acknowledged = answers.filter(({ code }) => code === 0).length * EVENTS;
    await until("what a guest was acknowledged is stored", async () => {
      const statement = "select count(distinct properties->>'serial')::int as count from event where app_id = $1";
      const { rows } = await site.pool.query(statement, [guest.app.appId]);
      return rows[0].count === acknowledged;
    });
  },
  async mend() {},
};

export const LARGE_BODY_FAULTS: readonly Fault[] = [killLargeBodies];
