import { randomUUID } from "node:crypto";
import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from "@nats-io/jetstream";
import { messageOf, UsageError } from "../../errors.ts";
import type { JetStreamAddress } from "./address.ts";

type StreamsWish = Pick<JetStreamAddress, "name" | "partitions" | "replicas" | "bytesMax">;

export type OpenedStreams = { id: string; streams: readonly StreamInfo[] };

/**
 * What the description of a stream says, because servers before 2.10 keep no metadata. Only the first stream knows how many
 * there are, and that all of them were made: one that is missing later was deleted, and must not begin again at 1, where the
 * cursor has been.
 */
type Description = { log: string; partition: number; partitions?: number; complete?: boolean };

export const streamOf = (name: string, partition: number): string => `${name}-${partition}`;
export const subjectOf = (name: string, partition: number): string => `${name}.${partition}`;
/** Where processes tell each other the new end of a partition. No stream keeps it. */
export const announcementOf = (name: string, partition: number | "*"): string => `${name}.end.${partition}`;

/** Finds the streams of a log, or makes them. Several processes may do so at once. */
export async function openStreams(manager: JetStreamManager, wish: StreamsWish): Promise<OpenedStreams> {
  const first = await openFirst(manager, wish);
  const { log, partitions = 1, complete = false } = descriptionOf(first);
  const streams = [await adjust(manager, first, wish)];
  for (let partition = 1; partition < partitions; partition += 1) {
    const stream = streamOf(wish.name, partition);
    const found = await find(manager, stream);
    if (!found && complete)
      throw new UsageError(`The stream ${stream} is gone, and with it all entries of its partition: restore it.`);
    const info = found ?? (await make(manager, wish, { log, partition }));
    if (descriptionOf(info).log !== log) throw new UsageError(`The stream ${stream} belongs to another log.`);
    streams.push(await adjust(manager, info, wish));
  }
  if (!complete) {
    const description = textOf({ log, partition: 0, partitions, complete: true });
    await manager.streams.update(streamOf(wish.name, 0), { ...streams[0]!.config, description });
  }
  return { id: log, streams };
}

/** The streams of a log as they are, or undefined when it was never made. */
export async function findStreams(manager: JetStreamManager, name: string): Promise<OpenedStreams | undefined> {
  const first = await find(manager, streamOf(name, 0));
  if (!first) return undefined;
  const { log, partitions = 1 } = descriptionOf(first);
  const streams = [first];
  for (let partition = 1; partition < partitions; partition += 1)
    streams.push(await manager.streams.info(streamOf(name, partition)));
  return { id: log, streams };
}

async function openFirst(manager: JetStreamManager, wish: StreamsWish): Promise<StreamInfo> {
  const stream = streamOf(wish.name, 0);
  const found = await find(manager, stream);
  if (found) return found;
  try {
    return await make(manager, wish, { log: randomUUID(), partition: 0, partitions: wish.partitions });
  } catch (error) {
    // Another process may have made it meanwhile, with another id.
    const made = await find(manager, stream);
    if (made) return made;
    throw error;
  }
}

async function find(manager: JetStreamManager, stream: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(stream);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return undefined;
    throw error;
  }
}

async function make(manager: JetStreamManager, wish: StreamsWish, description: Description): Promise<StreamInfo> {
  const { name, replicas, bytesMax } = wish;
  const stream = streamOf(name, description.partition);
  try {
    return await manager.streams.add({
      name: stream,
      subjects: [subjectOf(name, description.partition)],
      description: textOf(description),
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      num_replicas: replicas,
      // Nothing is dropped because of its age or for want of space: only `prune` removes, behind the cursor.
      discard: DiscardPolicy.New,
      max_bytes: bytesMax,
    });
  } catch (error) {
    throw new Error(`The stream ${stream} could not be made: ${messageOf(error)}.`, { cause: error });
  }
}

/** Gives a stream the settings that may change. */
async function adjust(manager: JetStreamManager, info: StreamInfo, wish: StreamsWish): Promise<StreamInfo> {
  const { config } = info;
  if (config.num_replicas === wish.replicas && config.max_bytes === wish.bytesMax) return info;
  return manager.streams.update(config.name, { ...config, num_replicas: wish.replicas, max_bytes: wish.bytesMax });
}

function textOf(description: Description): string {
  return JSON.stringify(description);
}

function descriptionOf({ config }: StreamInfo): Description {
  try {
    const read: Description = JSON.parse(config.description ?? "");
    if (typeof read.log === "string") return read;
  } catch {
    // Not ours, as said below.
  }
  throw new UsageError(`The stream ${config.name} is used by something else: choose another name for the log.`);
}
