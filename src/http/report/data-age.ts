import { oldestMarkMs } from "../../db/dirty-day.ts";
import type { Reading } from "../../db/replica/report-reads.ts";
import type { ReportContext } from "./report-context.ts";

/**
 * The age of the data: anything received since then may be missing from an answer. `cubeOf` is the app whose cube is
 * read, or undefined when the answer is read from the tables themselves.
 */
export async function dataAgeS(
  context: Pick<ReportContext, "clock" | "applyLagMs">,
  { pool, lagMs }: Reading,
  cubeOf: number | undefined,
): Promise<number> {
  const nowMs = context.clock();
  const markedMs = cubeOf === undefined ? undefined : await oldestMarkMs(pool, cubeOf);
  const ageMs = Math.max(context.applyLagMs() + lagMs, markedMs === undefined ? 0 : nowMs - markedMs);
  return Math.max(0, Math.ceil(ageMs / 1000));
}
