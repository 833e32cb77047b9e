import type { AccountSettings, Prepared } from "./connector.ts";

export type Skip = Extract<Prepared, { kind: "skip" }>;

export function skip(reason: string): Skip {
  return { kind: "skip", reason };
}

/** A skip that names the first field without a value. Reasons never show values. */
export function lack(account: AccountSettings, names: readonly string[]): Skip | undefined {
  const name = names.find((one) => account(one) === "");
  return name === undefined ? undefined : skip(`The account has no \`${name}\`.`);
}

/** The entries that have a value, so that a platform never takes an empty text for an id. */
export function known(entries: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== ""));
}

export function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Yuan with two decimals. */
export function yuanOf(cents: number): string {
  return (cents / 100).toFixed(2);
}
