import { setTimeout as sleep } from "node:timers/promises";
import type { Fault, Trouble } from "../fault.ts";
import { isAlive, postmasterOf } from "../postmaster.ts";
import { ServerChild } from "../server-child.ts";
import type { Site } from "../site.ts";
import { until } from "../until.ts";

const ANY_INSTANT_MS = 700;
const GOES_ON_EVENTS = 30;

/** Waits for a random moment in the flow of requests, flushes, batches and calls. */
export function anyInstant({ random }: Trouble): Promise<void> {
  return sleep(random.between(0, ANY_INSTANT_MS));
}

const killServer: Fault = {
  name: "kill_server",
  what: "kill -9 of the server that takes in and applies",
  kind: "kill",
  at: "embedded",
  weight: 5,
  async inflict(trouble) {
    await anyInstant(trouble);
    await trouble.site.server.kill();
  },
  mend: ({ site }) => site.startServer(),
};

const killStart: Fault = {
  name: "kill_start",
  what: "kill -9 of the server, and of the next starts somewhere on their way",
  kind: "kill",
  at: "embedded",
  weight: 2,
  async inflict(trouble) {
    const { site, random } = trouble;
    await anyInstant(trouble);
    await site.server.kill();
    for (let starts = random.whole(1, 3); starts > 0; starts -= 1) {
      const start = ServerChild.launch({ env: site.serverEnv() });
      await sleep(random.between(50, 2_500));
      await start.kill();
    }
  },
  mend: ({ site }) => site.startServer(),
};

const killDatabase: Fault = {
  name: "kill_database",
  what: "kill -9 of the embedded PostgreSQL; the server starts it again",
  kind: "kill",
  at: "embedded",
  weight: 4,
  async inflict(trouble) {
    await anyInstant(trouble);
    const { site } = trouble;
    const postmaster = postmasterOf(site.dataDir);
    if (postmaster === undefined) throw new Error("The embedded PostgreSQL does not run.");
    process.kill(postmaster, "SIGKILL");
    await until("PostgreSQL has ended", () => !isAlive(postmaster));
    await goesOn(trouble);
  },
  mend: databaseIsBack,
};

const killBackend: Fault = {
  name: "kill_backend",
  what: "kill -9 of one connection's process, which makes PostgreSQL throw away what is not on its disk",
  kind: "kill",
  at: "embedded",
  weight: 4,
  async inflict(trouble) {
    const { site, random } = trouble;
    await anyInstant(trouble);
    // The connection may have been released meanwhile; then another one is chosen.
    await until("a connection's process is killed", async () => {
      const { rows } = await site.pool.query(
        "select pid from pg_stat_activity where application_name like 'touchpoint %' order by pid",
      );
      return process.kill(random.pick(rows).pid, "SIGKILL");
    });
    await goesOn(trouble);
  },
  mend: databaseIsBack,
};

const killApply: Fault = {
  name: "kill_apply",
  what: "the end of the thread that applies, in the middle of whatever it does; the server starts another",
  kind: "kill",
  at: "embedded",
  weight: 2,
  async inflict(trouble) {
    await anyInstant(trouble);
    await trouble.site.server.endThread("apply");
    await goesOn(trouble);
  },
  async mend() {},
};

const killJournal: Fault = {
  name: "kill_journal",
  what: "the end of the thread that writes the journal, up to five times; what it had in hand is refused",
  kind: "kill",
  at: "embedded",
  weight: 1,
  refuses: "yes",
  async inflict(trouble) {
    const { site, random } = trouble;
    for (let times = random.whole(1, 5); times > 0; times -= 1) {
      await anyInstant(trouble);
      await site.server.endThread("journal");
    }
    await goesOn(trouble);
  },
  async mend() {},
};

const killWorker: Fault = {
  name: "kill_worker",
  what: "kill -9 of the process that tells the platforms, refreshes the reports and writes the lake",
  kind: "kill",
  at: "embedded",
  weight: 1,
  async inflict(trouble) {
    await anyInstant(trouble);
    await trouble.site.worker.kill();
    await goesOn(trouble);
  },
  mend: ({ site }) => site.startWorker(),
};

const killAll: Fault = {
  name: "kill_all",
  what: "kill -9 of server, worker and PostgreSQL at the same instant",
  kind: "kill",
  at: "embedded",
  weight: 2,
  async inflict(trouble) {
    const { site } = trouble;
    await anyInstant(trouble);
    const postmaster = postmasterOf(site.dataDir);
    const [server, worker] = [site.server.kill(), site.worker.kill()];
    if (postmaster !== undefined) process.kill(postmaster, "SIGKILL");
    await Promise.all([server, worker]);
  },
  async mend({ site }) {
    await site.startServer();
    await site.startWorker();
  },
};

/** The killed process works behind the journal, so collection must not notice. */
export function goesOn({ site }: Trouble): Promise<void> {
  return site.flows(GOES_ON_EVENTS);
}

async function databaseIsBack({ site }: Trouble): Promise<void> {
  await until(
    "the database is back",
    async () => (await isDatabaseThere(site)) && postmasterOf(site.dataDir) !== undefined,
  );
}

export async function isDatabaseThere({ url }: Site): Promise<boolean> {
  const { data } = (await (await fetch(`${url}/readyz`)).json()) as { data: { database?: string } };
  return data.database === "there";
}

/** Kills of the server's own processes and threads, which can be inflicted whatever the database is. */
export const PROCESS_KILLS: readonly Fault[] = [killServer, killStart, killApply, killJournal, killWorker, killAll];

export const KILLS: readonly Fault[] = [
  ...[killServer, killStart, killDatabase, killBackend, killApply, killJournal, killWorker, killAll],
];
