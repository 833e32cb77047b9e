import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Fault, Trouble } from "../fault.ts";
import { until } from "../until.ts";
import { anyInstant, goesOn, isDatabaseThere } from "./kills.ts";

const run = promisify(execFile);

type Machine = { host: string; port: number };

/** The machines of the given cluster: the coordinator, or the others. */
async function machinesOf({ site }: Trouble, which: "coordinator" | "workers"): Promise<Machine[]> {
  const { rows } = await site.pool.query<Machine>(
    `select nodename as host, nodeport as port from pg_dist_node
     where noderole = 'primary' and (groupid = 0) = ($1 = 'coordinator') order by groupid`,
    [which],
  );
  return rows;
}

/** Ends PostgreSQL on a machine by the command that was given, which also starts it again. */
async function crash(trouble: Trouble, which: "coordinator" | "workers"): Promise<void> {
  const { site, random } = trouble;
  if (site.crashCommand === undefined) throw new Error("A machine can be killed only with --crash.");
  const { host, port } = random.pick(await machinesOf(trouble, which));
  await anyInstant(trouble);
  const crashing = run(site.crashCommand, [host, String(port)]);
  await Promise.all([crashing, goesOn(trouble)]);
}

async function databaseIsBack({ site }: Trouble): Promise<void> {
  await until("the database is back", () => isDatabaseThere(site));
}

/** Kills of a cluster's machines. They occur only where a command is given that can kill them. */
export const MACHINE_KILLS: readonly Fault[] = [
  {
    name: "kill_coordinator",
    what: "kill -9 of PostgreSQL on the coordinator of a cluster, which is started again",
    kind: "kill",
    at: "given",
    inflict: (trouble) => crash(trouble, "coordinator"),
    mend: databaseIsBack,
  },
  {
    name: "kill_machine",
    what: "kill -9 of PostgreSQL on one of a cluster's workers, which is started again",
    kind: "kill",
    at: "given",
    inflict: (trouble) => crash(trouble, "workers"),
    mend: databaseIsBack,
  },
];
