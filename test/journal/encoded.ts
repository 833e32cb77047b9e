import { measureEntry, type NewEntry, writeEntry } from "../../src/journal/entry.ts";

/** An entry as a record of its own, whose header is still open. */
export function encoded(entry: NewEntry): Buffer {
  const measured = measureEntry(entry);
  const record = Buffer.alloc(measured.recordBytes);
  writeEntry(measured, record);
  return record;
}
