import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/clock.ts";
import { PROPERTIES, STORED_EVENTS } from "../../stored-events.ts";
import type { Fault, Trouble } from "../fault.ts";
import { Guest } from "../guest.ts";
import { until } from "../until.ts";

const CLIENT = "judged";
const BODIES = 12;
const EVENTS = 400;
const ENDS_MAX = 4;
const WAIT_MS_MAX = 60;

/** The length of a text in each event: with it, a body goes to that thread. */
const TEXT_LENGTHS = { judge: 100, large_bodies: 2_000 } as const;
type Judge = keyof typeof TEXT_LENGTHS;

const body = (number: number, judge: Judge) => ({
  client_id: CLIENT,
  event_list: Array.from({ length: EVENTS }, (_, index) => ({
    type: "track",
    event: "judged",
    time: systemClock(),
    properties: { text: "x".repeat(TEXT_LENGTHS[judge]), serial: number * EVENTS + index },
  })),
});

/** Ends a thread while a guest sends bodies for it. What it has in hand is refused, and everything acknowledged is stored. */
async function endJudge({ site, random, findings }: Trouble, judge: Judge): Promise<void> {
  const guest = await Guest.invite(site);
  findings.equal(1, "a registration", { is: (await guest.register(CLIENT)).code, should: 0 });
  const sending = Array.from({ length: BODIES }, (_, number) => guest.post("event/collect/", body(number, judge)));
  for (let times = random.whole(1, ENDS_MAX); times > 0; times -= 1) {
    await sleep(random.whole(0, WAIT_MS_MAX));
    await site.server.endThread(judge);
  }
  const answers = await Promise.all(sending);
  const others = answers.filter(({ status, code }) => status !== 503 && code !== 0);
  findings.equal(8, "answers to judged bodies but for 0 and 503", { is: others, should: [] });
  const acknowledged = answers.filter(({ code }) => code === 0).length * EVENTS;
  await until("what a guest was acknowledged is stored", async () => {
    const statement = `select count(distinct ${PROPERTIES}->>'serial')::int as count from ${STORED_EVENTS} where e.app_id = $1`;
    const { rows } = await site.pool.query(statement, [guest.app.appId]);
    return rows[0].count === acknowledged;
  });
}

export const JUDGING_FAULTS: readonly Fault[] = [
  {
    name: "kill_judge",
    what: "the end of a thread that judges bodies, up to four times while a guest sends them; those in hand are refused",
    kind: "kill",
    at: "embedded",
    weight: 1,
    inflict: (trouble) => endJudge(trouble, "judge"),
    async mend() {},
  },
  {
    name: "kill_large_bodies",
    what: "the end of the thread that judges large bodies, up to four times while a guest sends them; the one in hand is refused",
    kind: "kill",
    at: "embedded",
    weight: 1,
    inflict: (trouble) => endJudge(trouble, "large_bodies"),
    async mend() {},
  },
];
