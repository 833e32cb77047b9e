import type { PostbackRule } from "../../../../src/contract/setting/postback.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { texts } from "./rule-texts.ts";

/** A rule's parts in words. */
export function useRuleWords() {
  const text = useTexts(texts);
  const { cents } = useFormat();
  const { currency } = useApp();
  const money = (amount: string) => `${cents(Number(amount))} ${currency}`;

  function within(bounds: string, shown: (value: string) => string = (value) => value): string {
    const [low = "", high] = bounds.split("..");
    if (high === undefined) return text.exactly(shown(low));
    if (low === "") return text.upTo(shown(high));
    return high === "" ? text.from(shown(low)) : text.fromTo(shown(low), shown(high));
  }

  return {
    /** One line per condition. */
    conditions({ amount, count, days_since_touch, properties, share, window }: PostbackRule): string[] {
      return [
        text.withinDays(window.replace("d", "")),
        ...(amount === "" ? [] : [text.amountWithin(within(amount, money))]),
        ...(count === "" ? [] : [text.countWithin(within(count))]),
        ...(days_since_touch === "" ? [] : [text.daysWithin(within(days_since_touch))]),
        ...properties,
        ...(share === "100%" ? [] : [text.shareOf(share)]),
      ];
    },
    value({ value }: PostbackRule): string {
      const [, fixed, factor, cap] = /^(?:fixed:(\d+)|factor:([\d.]+)(?:,cap:(\d+))?)$/.exec(value) ?? [];
      if (fixed !== undefined) return text.fixedOf(money(fixed));
      if (factor === undefined) return text.asIs;
      return [text.factorOf(factor), ...(cap === undefined ? [] : [text.cappedAt(money(cap))])].join(", ");
    },
  };
}
