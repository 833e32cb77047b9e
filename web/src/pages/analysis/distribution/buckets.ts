import type { DistributionAnswer, DistributionQuestion } from "../../../../../src/contract/analysis/distribution.ts";

export type Bucket = DistributionAnswer["buckets"][number];

/** The numbers that somebody wrote; undefined: something else is among them. */
export function edgesOf(text: string): number[] | undefined {
  const parts = text.split(/[\s,;，；、]+/).filter((part) => part !== "");
  const edges = parts.map(Number);
  return edges.every(Number.isFinite) ? edges : undefined;
}

/** A bucket in words. Times and days are whole, so that theirs can name the last value instead of the first too large one. */
export function bucketText(
  { from, until }: Pick<Bucket, "from" | "until">,
  measure: DistributionQuestion["measure"],
  shown: (value: number) => string,
): string {
  const exact = (value: number) => (Number.isInteger(value * 100) ? shown(value) : String(value));
  if (from === null) return until === null ? "" : `< ${exact(until)}`;
  if (until === null) return `≥ ${exact(from)}`;
  if (measure === "sum" || !Number.isInteger(from) || !Number.isInteger(until)) {
    return `${exact(from)} – < ${exact(until)}`;
  }
  return until - from === 1 ? exact(from) : `${exact(from)}–${exact(until - 1)}`;
}

/** The share of users in each bucket, and in it and all below. */
export function sharesOf(buckets: readonly Bucket[], users: number): { share: number; upTo: number }[] {
  let below = 0;
  return buckets.map((bucket) => {
    below += bucket.users;
    return { share: bucket.users / users, upTo: below / users };
  });
}
