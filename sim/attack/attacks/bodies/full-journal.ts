import type { Attack } from "../../attack.ts";
import { PACKED, packed } from "../../caller.ts";

const CLIENT = "full-journal";
const FILLING_BYTES = 15 * 1024 * 1024;
/** Beside what was sent, an entry also holds the sender and the time. */
const GROWTH_MAX = 4;
const SLACK_BYTES = 2 * 1024 * 1024;

/** Endpoints whose bodies go to the journal. */
const PATHS = ["user/register/", "user/update_data/", "user/device_info/", "event/handle_event/", "event/collect/"];

export const fullJournal: Attack = {
  name: "full_journal",
  point: "5",
  by: "the owner of another app",
  what: "16 KB of gzip that hold 15 MiB of nothing, to every endpoint whose bodies are kept",
  holds: "the journal grows by about what came over the wire",
  async strike({ target, caller, repeat }) {
    const { accessToken } = target.own;
    await caller.register(accessToken, CLIENT);
    const filling = "x".repeat(FILLING_BYTES);
    const time = Date.now();
    const event = { type: "track", event: "e", time, properties: {} };
    const body = {
      client_id: CLIENT,
      name: "n",
      channel: "c",
      version: 1,
      event_type: "START",
      data: {},
      event_list: [event],
    };
    const bodies = [
      packed(JSON.stringify({ ...body, filling })),
      packed(JSON.stringify(body) + " ".repeat(FILLING_BYTES)),
    ];
    await repeat(2, async (number) => {
      const path = PATHS[number % PATHS.length]!;
      await caller.collect(accessToken, path, bodies[number % bodies.length]!, { headers: PACKED });
    });
  },
  async check({ report, journalBytes }) {
    const isSmall = journalBytes <= GROWTH_MAX * report.bytesSent + SLACK_BYTES;
    const [grown, sent] = [journalBytes, report.bytesSent].map((bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`);
    return isSmall ? [] : [`${sent} on the wire made the journal grow by ${grown}`];
  },
};
