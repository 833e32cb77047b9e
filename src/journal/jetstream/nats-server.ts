import type { ServerInfo } from "@nats-io/transport-node";
import { UsageError } from "../../errors.ts";
import type { JetStreamAddress } from "./address.ts";

/** From this version on, `sync_interval: always` makes a server sync before it acknowledges. */
const SYNCING_SINCE = [2, 10, 0] as const;
/**
 * In earlier versions a leader that was frozen and goes on keeps what it was sent meanwhile in place of what the others have
 * agreed on, and acknowledges it ("Fix drift in WAL, truncate AppendEntry without quorum" in the server's history). No care of
 * ours mends it: the replica stays different, and may lead again.
 */
const AGREEING_SINCE = [2, 10, 23] as const;

type Usage = { entryBytesMax: number; address: Pick<JetStreamAddress, "replicas" | "versions"> };

/** Refuses a server that cannot keep our entries, and names what to change. */
export function assertUsable(info: ServerInfo, { entryBytesMax, address: { replicas, versions } }: Usage): void {
  if (!info.jetstream)
    throw new UsageError(
      "The nats-server has no JetStream: start it with `-js`, or add `jetstream {}` to its settings.",
    );
  if (info.max_payload < entryBytesMax)
    throw new UsageError(
      `The nats-server takes messages of at most ${info.max_payload} bytes, and an entry may have ${entryBytesMax}: set \`max_payload: ${entryBytesMax}\` or more on every nats-server.`,
    );
  if (replicas > 1 && versions !== "any" && isBefore(info.version, AGREEING_SINCE))
    throw new UsageError(
      `The nats-server has the version ${info.version}, and before ${AGREEING_SINCE.join(".")} replicas lose acknowledged entries when a server freezes and goes on: install a newer one on every machine. For a trial, add versions=any to LOG_URL.`,
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
      : `Acknowledged entries are held by ${holders} of ${replicas} nats-servers${exceptionOf(version)}`;
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

function exceptionOf(version: string): string {
  return isBefore(version, AGREEING_SINCE) ? " unless one of them freezes and goes on" : "";
}

function isBefore(version: string, since: readonly number[]): boolean {
  const numbers = version.split(".").map((part) => Number.parseInt(part, 10));
  const index = since.findIndex((number, at) => number !== (numbers[at] ?? 0));
  return index >= 0 && (numbers[index] ?? 0) < since[index]!;
}
