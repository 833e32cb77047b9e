import type { AccountField } from "./connector.ts";
import { yuanOf } from "./prepared.ts";

/** For platforms that do not document the unit of amounts. */
export function valueUnitField(parameter: string): AccountField {
  return { name: "value_unit", hint: `Unit of ${parameter}: fen or yuan.`, fallback: "fen" };
}

/** The amount in a unit: empty when there is no amount, undefined when the unit is unknown. */
export function valueIn(unit: string, cents: number | null): string | undefined {
  switch (unit) {
    case "fen":
      return cents === null ? "" : String(cents);
    case "yuan":
      return cents === null ? "" : yuanOf(cents);
    default:
      return undefined;
  }
}
