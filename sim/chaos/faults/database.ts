import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, Trouble } from "../fault.ts";
import { until } from "../until.ts";

const EVENTS = 60;
const AWAY_MS = { short: 2_000, long: 60_000 };
const SLOW_MS = { short: 2_000, long: 10_000 };

/** Lasts this long, and until enough events have been acknowledged meanwhile. */
async function lastsFor({ site }: Trouble, ms: number): Promise<void> {
  await Promise.all([sleep(ms), site.flows(EVENTS)]);
}

async function stateOf({ site }: Trouble): Promise<unknown> {
  return ((await (await fetch(`${site.url}/readyz`)).json()) as { data: unknown }).data;
}

const away: Fault = {
  name: "database_away",
  what: "PostgreSQL is stopped for a minute while events go on coming in",
  kind: "other",
  at: "external",
  async inflict(trouble) {
    const { site, findings, form } = trouble;
    await site.database!.stop();
    await lastsFor(trouble, AWAY_MS[form]);
    findings.equal(5, "what the server says of itself", {
      is: await stateOf(trouble),
      should: { status: "ready", database: "away" },
    });
  },
  mend: ({ site }) => site.database!.start(),
};

const slow: Fault = {
  name: "database_slow",
  what: "every message to and from PostgreSQL takes a while",
  kind: "other",
  at: "external",
  async inflict(trouble) {
    const { site, random, form } = trouble;
    site.line!.slow(random.whole(50, 600));
    await lastsFor(trouble, SLOW_MS[form]);
  },
  async mend({ site }) {
    site.line!.pass();
  },
};

const silent: Fault = {
  name: "database_silent",
  what: "PostgreSQL no longer answers, though every connection stays open",
  kind: "other",
  at: "external",
  async inflict(trouble) {
    trouble.site.line!.silence();
    await lastsFor(trouble, SLOW_MS[trouble.form]);
  },
  async mend(trouble) {
    trouble.site.line!.pass();
    await until("the database is back", async () => JSON.stringify(await stateOf(trouble)).includes("there"));
  },
};

export const DATABASE_FAULTS: readonly Fault[] = [away, slow, silent];
