import { type AssaultLength, assault, giveWay } from "./assault.ts";
import type { AttackReport } from "./attack.ts";
import { attackNamed } from "./attacks/attacks.ts";
import type { Target } from "./target.ts";

/** A process that attacks a server: its work must not slow down the process that measures. */
export type Order = { names: readonly string[]; target: Target; length: AssaultLength };
export type Report = readonly AttackReport[];

giveWay();
process.on("message", async ({ names, target, length }: Order) => {
  const reports = await Promise.all(names.map((name) => assault(attackNamed(name)!, target, length)));
  process.send?.(reports satisfies Report);
});
process.on("SIGINT", () => {});
process.once("disconnect", () => process.exit(0));
