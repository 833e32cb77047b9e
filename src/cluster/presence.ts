import { hostname } from "node:os";
import type pg from "pg";
import { type Node, noteNode, removeNode } from "../db/node.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { VERSION } from "../version.ts";
import { within } from "../within.ts";

/** How often a process gives a sign of life. */
const SIGN_MS = 2_000;
const LEAVE_MS_MAX = 100;

/** Lets the other processes of the installation know that this one is there. */
export function startPresence(
  pool: pg.Pool,
  { log, trouble, ...own }: { log: Log; trouble: () => string } & Pick<Node, "nodeId" | "address" | "roles">,
): Loop {
  const node = { ...own, host: hostname(), processId: process.pid, version: VERSION };
  const signs = startLoop({
    name: "presence",
    log,
    idleMs: SIGN_MS,
    // Others report that the database is away.
    onTrouble: () => {},
    turn: async () => {
      await noteNode(pool, { ...node, trouble: trouble() });
      return "idle";
    },
  });
  return {
    async stop() {
      await within(
        LEAVE_MS_MAX,
        signs.stop().then(() => removeNode(pool, node.nodeId)),
      ).catch(() => {});
    },
  };
}
