import type { Amount, NumberOf } from "../../../../../src/contract/analysis/question.ts";

/** A number as one text, for addresses and lists of choices; empty: none is chosen. */
export function numberText({ property, amount }: NumberOf): string {
  if (property !== undefined) return `property:${property}`;
  return amount === undefined ? "" : `amount:${amount}`;
}

/** A measure with its number as one text, such as `sum:property:score`. */
export function measureText({ measure, ...number }: NumberOf & { measure: string }): string {
  return [measure, numberText(number)].filter((part) => part !== "").join(":");
}

/** The measure in an address; undefined: the address names none of these. */
export function measureOf<Measure extends string>(
  text: string,
  measures: readonly Measure[],
): (NumberOf & { measure: Measure }) | undefined {
  const [name, number = ""] = text.split(/:(.*)/s);
  const measure = measures.find((one) => one === name);
  return measure && { measure, ...(measure === "sum" && numberOf(number)) };
}

/** Whether a sum still lacks what it adds up. */
export function lacksNumber({ measure, ...number }: NumberOf & { measure: string }): boolean {
  return measure === "sum" && numberText(number) === "";
}

export function numberOf(text: string): NumberOf {
  const [kind, name = ""] = text.split(/:(.*)/s);
  if (kind === "amount") return { amount: name as Amount };
  return kind === "property" ? { property: name } : {};
}
