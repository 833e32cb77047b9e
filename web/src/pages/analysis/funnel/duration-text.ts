import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { questionTexts } from "../question-texts.ts";

/** A time between two steps, in the largest unit that it fills. */
export function useDurationText(): (ms: number) => string {
  const { units } = useTexts(questionTexts);
  const { number } = useFormat();
  const sizes = [
    [86_400_000, units.day],
    [3_600_000, units.hour],
    [60_000, units.minute],
  ] as const;
  return (ms) => {
    const [size, unit] = sizes.find(([one]) => ms >= one) ?? [1_000, units.second];
    return `${number(Math.round((ms / size) * 10) / 10)} ${unit}`;
  };
}
