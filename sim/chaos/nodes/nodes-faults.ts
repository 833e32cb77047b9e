import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../market/random.ts";
import { until } from "../until.ts";
import { type NodesSite, PARTITIONS } from "./nodes-site.ts";

export type NodesFault = {
  name: string;
  what: string;
  /** Happens under load. At its end every process runs again. */
  inflict: (site: NodesSite, random: Random) => Promise<void>;
};

/** How long something is away: from a blink to longer than any time limit between the processes. */
const awayMs = (random: Random) => random.pick([50, 500, 2_500, 6_000]);

const aPartition = (random: Random) => random.whole(0, PARTITIONS - 1);

const killNats = async ({ nats }: NodesSite, index: number, ms: number) => {
  await nats.kill(index);
  await sleep(ms);
  nats.run(index);
};

const freezeNats = async ({ nats }: NodesSite, index: number, ms: number) => {
  nats.signal(index, "SIGSTOP");
  await sleep(ms);
  nats.signal(index, "SIGCONT");
};

const aFollower = async (site: NodesSite, random: Random) => {
  const leader = await site.leaderOf(aPartition(random));
  return random.pick([0, 1, 2].filter((index) => index !== leader));
};

export const NODES_FAULTS: readonly NodesFault[] = [
  {
    name: "kill_http",
    what: "a node that collects is killed, and starts again",
    inflict: async (site, random) => {
      const node = random.pick(site.collectors);
      await node.kill();
      await node.startAgain();
    },
  },
  {
    name: "kill_apply",
    what: "a node that applies is killed, and starts again later",
    inflict: async (site, random) => {
      const node = random.pick(site.appliers);
      await node.kill();
      await sleep(awayMs(random));
      await node.startAgain();
    },
  },
  {
    name: "kill_appliers",
    what: "all nodes that apply are killed at once, and start again",
    inflict: async ({ appliers }) => {
      await Promise.all(appliers.map((node) => node.kill()));
      await Promise.all(appliers.map((node) => node.startAgain()));
    },
  },
  {
    name: "kill_log_leader",
    what: "the nats-server that leads a partition is killed, and starts again",
    inflict: async (site, random) => killNats(site, await site.leaderOf(aPartition(random)), awayMs(random)),
  },
  {
    name: "kill_log_follower",
    what: "a nats-server that follows is killed, and starts again",
    inflict: async (site, random) => killNats(site, await aFollower(site, random), awayMs(random)),
  },
  {
    name: "lose_majority",
    what: "two of three nats-servers are killed, and start again",
    inflict: async (site, random) => {
      const kept = random.whole(0, 2);
      const lost = [0, 1, 2].filter((index) => index !== kept);
      await Promise.all(lost.map((index) => killNats(site, index, awayMs(random))));
    },
  },
  {
    name: "kill_database",
    what: "PostgreSQL is killed with all its processes, and starts again",
    inflict: (site) => site.killDatabase(),
  },
  {
    name: "freeze_http",
    what: "a node that collects is frozen, and wakes up",
    inflict: async (site, random) => {
      const node = random.pick(site.collectors);
      node.signal("SIGSTOP");
      await sleep(awayMs(random));
      node.signal("SIGCONT");
    },
  },
  {
    name: "freeze_apply",
    what: "a node that applies is frozen, and wakes up once others apply its partitions",
    inflict: async (site, random) => {
      const node = random.pick(site.appliers);
      await until("the node to hold partitions", async () => (await site.holders()).has(node.pid));
      node.signal("SIGSTOP");
      await until("its partitions to move", async () => !(await site.holders()).has(node.pid));
      node.signal("SIGCONT");
    },
  },
  {
    name: "freeze_log_leader",
    what: "the nats-server that leads a partition is frozen, and wakes up",
    inflict: async (site, random) => freezeNats(site, await site.leaderOf(aPartition(random)), awayMs(random)),
  },
  {
    name: "freeze_log_follower",
    what: "a nats-server that follows is frozen, and wakes up",
    inflict: async (site, random) => freezeNats(site, await aFollower(site, random), awayMs(random)),
  },
  {
    name: "join_and_leave",
    what: "another node that applies joins, takes its share, and leaves",
    inflict: async (site) => {
      const node = await site.add("apply");
      await until("the node to take its share", async () => (await site.holders()).has(node.pid));
      await site.leave(node);
    },
  },
  {
    name: "restart_all",
    what: "every node is stopped and started again, one after the other",
    inflict: async ({ nodes }) => {
      for (const node of [...nodes]) await node.startAgain();
    },
  },
];
