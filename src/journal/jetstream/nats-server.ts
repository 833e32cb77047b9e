import type { ServerInfo } from "@nats-io/transport-node";
import { UsageError } from "../../errors.ts";

/** From this version on, `sync_interval: always` makes a server sync before it acknowledges. */
const SYNCING_SINCE = [2, 10] as const;

/** Refuses a server that cannot store our entries, and names the setting to change. */
export function assertUsable(info: ServerInfo, { entryBytesMax }: { entryBytesMax: number }): void {
  if (!info.jetstream)
    throw new UsageError(
      "The nats-server has no JetStream: start it with `-js`, or add `jetstream {}` to its settings.",
    );
  if (info.max_payload < entryBytesMax)
    throw new UsageError(
      `The nats-server takes messages of at most ${info.max_payload} bytes, and an entry may have ${entryBytesMax}: set \`max_payload: ${entryBytesMax}\` or more on every nats-server.`,
    );
}

/**
 * What an acknowledgement means. `disks`: "as_set" when the servers sync before it if `sync_interval: always` is set, which
 * they do not tell their clients; "later" when their version cannot.
 */
export type ServerPromise = { holders: number; disks: "as_set" | "later"; sentence: string };

export function promiseOf({ version, replicas }: { version: string; replicas: number }): ServerPromise {
  const holders = Math.floor(replicas / 2) + 1;
  const held =
    replicas === 1
      ? "Acknowledged entries are held by one nats-server"
      : `Acknowledged entries are held by ${holders} of ${replicas} nats-servers`;
  if (isBefore(version, SYNCING_SINCE))
    return {
      holders,
      disks: "later",
      sentence: `${held}, and reach their disks within two minutes: version ${version} cannot sync earlier.`,
    };
  return {
    holders,
    disks: "as_set",
    sentence: `${held}, and are on their disks if \`sync_interval: always\` is set there.`,
  };
}

function isBefore(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ours = 0, theirs = 0] = version.split(".").map(Number);
  return ours < major || (ours === major && theirs < minor);
}
