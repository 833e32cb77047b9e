import type { AccountField } from "./connector.ts";
import { yuanOf } from "./prepared.ts";

/** For platforms that do not say in which unit they read an amount. */
export function valueUnitField(parameter: string): AccountField {
  return { name: "value_unit", hint: `Unit of ${parameter}: fen or yuan.`, fallback: "fen" };
}

/** The empty text where there is no amount; undefined where there is no such unit. */
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
