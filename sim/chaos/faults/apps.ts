import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../../src/clock.ts";
import type { Fault } from "../fault.ts";
import { Guest } from "../guest.ts";

const CLIENT = "flooder";
const LANES = 8;
const EVENTS = 200;
const FLOOD_MS = { short: 2_000, long: 10_000 };

/** Calls of one app beyond its share are put off; calls of the others are not. */
const flood: Fault = {
  name: "flooded_app",
  what: `one app sends ${EVENTS} events a call on ${LANES} connections without a pause, beside the market's own`,
  kind: "other",
  at: "embedded",
  async inflict({ site, findings, form }) {
    const guest = await Guest.invite(site);
    findings.equal(8, "a registration", { is: (await guest.register(CLIENT)).code, should: 0 });
    let isOver = false;
    const codes = new Map<string, number>();
    const lane = async (_: unknown, number: number) => {
      for (let call = 0; !isOver; call += 1) {
        const event_list = Array.from({ length: EVENTS }, (__, event) => ({
          type: "track",
          event: "flood",
          time: systemClock(),
          properties: { number, call, event },
        }));
        const answer = await guest.post("event/collect/", { client_id: CLIENT, event_list });
        const kind = `${answer.status} ${answer.code}`;
        codes.set(kind, (codes.get(kind) ?? 0) + 1);
      }
    };
    const lanes = Array.from({ length: LANES }, lane);
    await Promise.all([sleep(FLOOD_MS[form]), site.flows(60)]);
    isOver = true;
    await Promise.all(lanes);
    findings.hold(8, (codes.get("200 0") ?? 0) > 0, `the flood was answered ${JSON.stringify([...codes])}`);
  },
  async mend() {},
};

export const APP_FAULTS: readonly Fault[] = [flood];
