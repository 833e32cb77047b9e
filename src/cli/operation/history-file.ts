import { open } from "node:fs/promises";
import { messageOf, UsageError } from "../../errors.ts";
import { countLines, isBlank, linesOf, readHistoryLine } from "../../intake/history-line.ts";
import { LIMITS, MIB } from "../../limits.ts";

/** Lines to send together, as many as the server takes at once, and the number of each in the file. */
export type Block = { bytes: Buffer; numbers: readonly number[] };

/** A stretch of whole lines as they stand in the file. */
type Stretch = { bytes: Buffer; firstLine: number };

/** Lines in memory. The more there are, the more events of one client come together. */
const WINDOW_BYTES = 64 * MIB;

const NEWLINE = 0x0a;
const LINE_END = Buffer.from([NEWLINE]);
/** Some programs begin a UTF-8 file with it. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Checks the whole file, so that a bad line is named before anything is imported. Returns the number of events. */
export async function checkHistory(file: string): Promise<number> {
  let events = 0;
  for await (const { bytes, firstLine } of stretchesOf(file)) {
    let number = firstLine - 1;
    for (const line of linesOf(bytes)) {
      number += 1;
      if (isBlank(line)) continue;
      const read = readHistoryLine(line);
      if (read.kind === "faulty") throw new UsageError(`Line ${number} ${read.fault}; nothing was imported.`);
      events += 1;
    }
  }
  return events;
}

/**
 * The file block by block: memory does not grow with the file. Within 64 MiB the lines of a client stand together, in
 * their order: the server then writes each user once, not once for every event. With the events of 5,000 clients in
 * random order, everything together needs less than half the processor time.
 */
export async function* blocksOf(file: string): AsyncGenerator<Block> {
  let stretches: Stretch[] = [];
  let bytes = 0;
  for await (const stretch of stretchesOf(file)) {
    stretches.push(stretch);
    bytes += stretch.bytes.length;
    if (bytes < WINDOW_BYTES) continue;
    yield* grouped(stretches);
    stretches = [];
    bytes = 0;
  }
  yield* grouped(stretches);
}

type Lines = { texts: Buffer[]; numbers: number[] };

/** The lines by client, in the order in which the clients first appear, cut into blocks. */
function* grouped(stretches: readonly Stretch[]): Generator<Block> {
  const byClient = new Map<string, Lines>();
  for (const { bytes, firstLine } of stretches) {
    let number = firstLine - 1;
    for (const text of linesOf(bytes)) {
      number += 1;
      if (isBlank(text)) continue;
      const read = readHistoryLine(text);
      // The file has changed since it was checked: the server will name the line.
      const clientId = read.kind === "event" ? read.clientId : "";
      const lines = byClient.get(clientId) ?? { texts: [], numbers: [] };
      byClient.set(clientId, lines);
      lines.texts.push(text);
      lines.numbers.push(number);
    }
  }
  let block: Lines = { texts: [], numbers: [] };
  let blockBytes = 0;
  for (const { texts, numbers } of byClient.values()) {
    for (const [index, text] of texts.entries()) {
      if (blockBytes + text.length + 1 > LIMITS.historyBytes) {
        yield blockOf(block);
        block = { texts: [], numbers: [] };
        blockBytes = 0;
      }
      block.texts.push(text, LINE_END);
      block.numbers.push(numbers[index]!);
      blockBytes += text.length + 1;
    }
  }
  if (blockBytes > 0) yield blockOf(block);
}

function blockOf({ texts, numbers }: Lines): Block {
  return { bytes: Buffer.concat(texts), numbers };
}

async function* stretchesOf(file: string): AsyncGenerator<Stretch> {
  const unreadable = (error: unknown): never => {
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}.`);
  };
  const handle = await open(file).catch(unreadable);
  try {
    let firstLine = 1;
    /** The beginning of a line whose end has not been read yet. */
    let rest = Buffer.alloc(0);
    for (;;) {
      const buffer = Buffer.allocUnsafe(LIMITS.historyBytes);
      rest.copy(buffer);
      const { bytesRead } = await handle.read(buffer, rest.length, buffer.length - rest.length).catch(unreadable);
      const read = buffer.subarray(0, rest.length + bytesRead);
      const end = bytesRead === 0 ? read.length : read.lastIndexOf(NEWLINE) + 1;
      if (end === 0 && read.length === buffer.length) throw tooLong(firstLine);
      const bytes = firstLine === 1 ? withoutMark(read.subarray(0, end)) : read.subarray(0, end);
      if (bytes.length > 0) yield { bytes, firstLine };
      firstLine += countLines(bytes);
      rest = read.subarray(end);
      if (bytesRead === 0) return;
    }
  } finally {
    await handle.close();
  }
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? bytes.subarray(BYTE_ORDER_MARK.length)
    : bytes;
}

function tooLong(line: number): UsageError {
  return new UsageError(`Line ${line} is longer than ${LIMITS.historyLineBytes} bytes; nothing was imported.`);
}
