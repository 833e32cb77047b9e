import type { RetentionAnswer, RetentionQuestion } from "../../../../../src/contract/analysis/retention.ts";
import { addDays, useFormat } from "../../../format.ts";
import { useToday } from "../../../report/days.ts";
import type { Asked } from "../answer/answer-query.ts";
import { type IsBegun, type Over, shareOver, valueOver } from "./retention-share.ts";

export type AskedRetention = Asked<RetentionQuestion, RetentionAnswer>;

/** What a curve and a heat map show: users who came back, or their value. */
export type Figure = {
  kind: "share" | "value";
  over: (group: Parameters<Over>[0], period: number) => number | undefined;
  shown: (value: number) => string;
};

export function useFigure({ by, value }: RetentionQuestion): Figure {
  const { number, percent } = useFormat();
  const today = useToday();
  const isBegun: IsBegun = (cohort, period) => addDays(cohort, period * (by === "week" ? 7 : 1)) <= today;
  if (!value) return { kind: "share", shown: percent, over: (group, period) => shareOver(group, period, isBegun) };
  return { kind: "value", shown: number, over: (group, period) => valueOver(group, period, isBegun) };
}
