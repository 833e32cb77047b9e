import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { elapsedMs } from "../../clock.ts";
import { UsageError } from "../../errors.ts";
import { parseInteger, print } from "../output.ts";
import { withServer } from "../session.ts";

/** A server that takes longer to say how far it is hangs, and so would this command. */
const ANSWER_MS_MAX = 30_000;
/** What one answer may take however little time is left, so that a short timeout still learns what is left to do. */
const ANSWER_MS_MIN = 1_000;

export function settleCommand(program: Command): void {
  program
    .command("settle")
    .description("Wait until everything acknowledged before this call is in the tables and in the reports")
    .option("--timeout-s <seconds>", "give up after this long", parseInteger, 300)
    .option("--url <url>", "address of the server; by default the one on DATA_DIR")
    .option("--json", "print JSON")
    .action((options: { timeoutS: number; url?: string; json?: boolean }) =>
      withServer(options.url, async (address) => {
        const settled = await settle(address, options.timeoutS * 1000);
        print(settled, options, () => `Settled at ${settled.applied}.`);
      }),
    );
}

type Place = { durable: number; applied: number };
/** `partitions`: the same for each partition of the journal. */
type Position = Place & { partitions: Place[]; marked?: number; refreshed?: number };

export async function settle(
  address: string,
  timeoutMs: number,
  onStep: (done: number) => void = () => {},
  until: "applied" | "refreshed" = "refreshed",
): Promise<Place> {
  const startedMs = elapsedMs();
  const ask = () => positionOf(address, timeoutMs - (elapsedMs() - startedMs));
  const target = await ask();
  let marked: number | undefined;
  for (let position = target; ; position = await ask()) {
    onStep(target.durable === 0 ? 1 : position.applied / target.durable);
    // Each on its own: new entries of one partition must not stand for old ones of another.
    const isApplied = target.partitions.every(({ durable }, index) => position.partitions[index]!.applied >= durable);
    // The marks that exist once everything is applied are the ones that have to be refreshed.
    if (isApplied) marked ??= until === "applied" ? 0 : position.marked;
    if (marked !== undefined && (position.refreshed ?? 0) >= marked) {
      return { durable: target.durable, applied: position.applied };
    }
    if (elapsedMs() - startedMs > timeoutMs) {
      const left = isApplied
        ? "the cube is not up to date yet"
        : `${target.durable - position.applied} bytes of the journal are left`;
      throw new UsageError(`Not settled after ${timeoutMs / 1000} s: ${left}.`);
    }
    await sleep(20);
  }
}

async function positionOf(address: string, leftMs: number): Promise<Position> {
  const ms = Math.round(Math.min(Math.max(leftMs, ANSWER_MS_MIN), ANSWER_MS_MAX));
  const answer = await progressOf(address, ms).catch((error: Error) => {
    if (error.name !== "TimeoutError") throw new UsageError(`No server answers at ${address}.`);
    throw new UsageError(`The server at ${address} did not answer within ${ms / 1000} s.`);
  });
  if (answer?.data?.partitions) return answer.data;
  throw new UsageError(`The server at ${address} does not say how far it is: ${answer?.msg ?? "no reason given"}`);
}

type ProgressAnswer = { msg?: string; data?: Position } | null;

async function progressOf(address: string, ms: number): Promise<ProgressAnswer> {
  const response = await fetch(`${address}/progress`, { signal: AbortSignal.timeout(ms) });
  return (await response.json()) as ProgressAnswer;
}
