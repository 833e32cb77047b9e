import type { NewEntry } from "./entry.ts";

/** A place between two entries of a partition, counted from 0. Ordered within the partition; not an amount of bytes. */
export type Position = number;

/** A position in one of the partitions. */
export type Place = { partition: number; position: Position };

export type LogItem =
  | { kind: "record"; from: Position; until: Position; payload: Buffer }
  /** A stretch that holds no readable entry, with all of its bytes or with none. */
  | { kind: "damage"; from: Position; until: Position; payload: Buffer };

/** Whether a stretch was a record: a record never has as many bytes as positions, and never none. */
export function isRecord({ from, until, payload }: { from: Position; until: Position; payload: Buffer }): boolean {
  return payload.length > 0 && payload.length !== until - from;
}

/** Reads a partition in order, and reports everything that is missing as damage. */
export type LogReader = {
  readonly position: Position;
  /** The next item, or undefined when it has caught up with `until`. */
  next(until: Position): Promise<LogItem | undefined>;
  close(): Promise<void>;
};

/** One partition for those who only read it. */
export type LogSource = {
  journalId: string;
  partition: number;
  /** Everything before this position is durable. */
  end: () => Position;
  read: (from: Position) => LogReader;
};

/** Entries that have become durable together. `byApp` counts unpacked bytes. */
export type Appended = {
  partition: number;
  until: Position;
  records: number;
  byApp: Map<number, number>;
  tookMs: number;
};

/**
 * The append-only log behind the journal. All entries of an app are in one partition, so that they are one sequence; apps do
 * not depend on each other. The cursor's key is the id and the partition: an id never returns with other positions.
 */
export type EntryLog = {
  readonly id: string;
  readonly partitions: number;
  partitionOf(app: number): number;
  /**
   * Resolves with the position after the entry, in the partition of its app, once the entry is durable. Rejects with an
   * ApiError when it is refused; whether a refused entry is stored all the same is unknown.
   */
  append(entry: NewEntry): Promise<Position>;
  readonly isClosed: boolean;
  /** Why every entry would be refused now, or undefined. */
  readonly obstacle: string | undefined;
  /** Why nothing has been heard from the log for some seconds, or undefined. Entries are tried all the same. */
  readonly trouble: string | undefined;
  /** Bytes of entries that wait to become durable. */
  readonly waitingBytes: number;
  /** Grows by the bytes that become durable. */
  readonly writtenBytes: number;
  /** The end of a partition as this process knows it: after everything that it has appended itself. */
  end(partition: number): Position;
  /** The end after everything that any process has appended. */
  freshEnd(partition: number): Promise<Position>;
  /** A position about so many bytes before the end. */
  positionBefore(partition: number, options: { bytes: number }): Position;
  /** About how many bytes lie behind these positions, one for each partition. */
  bytesBehind(applied: readonly Position[]): number;
  read(partition: number, from: Position): LogReader;
  /**
   * Deletes what lies before `applied`, a cursor that is known to be durable, and was written before `writtenBeforeMs`.
   * Returns how many pieces are gone.
   */
  prune(partition: number, before: { applied: Position; writtenBeforeMs: number }): Promise<number>;
  close(): Promise<void>;
};

/** A partition as its readers in this process see it. */
export function sourceOf(journal: EntryLog, partition: number): LogSource {
  return {
    journalId: journal.id,
    partition,
    end: () => journal.end(partition),
    read: (from) => journal.read(partition, from),
  };
}

/** The known ends of all partitions. */
export function endsOf(journal: EntryLog): Position[] {
  return Array.from({ length: journal.partitions }, (_, partition) => journal.end(partition));
}
