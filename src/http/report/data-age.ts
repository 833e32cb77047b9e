import { oldestMarkMs } from "../../db/dirty-day.ts";
import type { ReportContext } from "./report-context.ts";

/**
 * How old the data is: what was received since then may not be in an answer yet. `cubeOf`: the app whose cube is read;
 * undefined: the answer is read from the tables themselves.
 */
export async function dataAgeS(
  context: Pick<ReportContext, "clock" | "reportPool" | "applyLagMs">,
  cubeOf: number | undefined,
): Promise<number> {
  const nowMs = context.clock();
  const markedMs = cubeOf === undefined ? undefined : await oldestMarkMs(context.reportPool(), cubeOf);
  const ageMs = Math.max(context.applyLagMs(), markedMs === undefined ? 0 : nowMs - markedMs);
  return Math.max(0, Math.ceil(ageMs / 1000));
}
