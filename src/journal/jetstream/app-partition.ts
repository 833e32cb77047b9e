/**
 * The partition of an app. It must never change for a log: the order of an app's entries is the order of one partition.
 * Multiples of the golden ratio lie far apart on the unit circle, so that even a few consecutive ids are spread.
 */
export function partitionOfApp(app: number, partitions: number): number {
  const turn = (Math.imul(app, 0x9e3779b1) >>> 0) / 2 ** 32;
  return Math.floor(turn * partitions);
}
