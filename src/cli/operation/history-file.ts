import { open } from "node:fs/promises";
import { messageOf, UsageError } from "../../errors.ts";
import { countLines, isBlank, linesOf, readHistoryLine } from "../../intake/history-line.ts";
import { LIMITS } from "../../limits.ts";

/** A stretch of whole lines, as large as the server takes at once, and the number of the first one. */
export type Block = { bytes: Buffer; firstLine: number };

const NEWLINE = 0x0a;
/** Some programs begin a UTF-8 file with it. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Checks the whole file, so that a bad line is named before anything is imported. Returns the number of events. */
export async function checkHistory(file: string): Promise<number> {
  let events = 0;
  for await (const { bytes, firstLine } of blocksOf(file)) {
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

/** The file block by block: memory does not grow with the file. */
export async function* blocksOf(file: string): AsyncGenerator<Block> {
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
