import type pg from "pg";
import type { ColdEvents } from "../../db/cold-event.ts";
import { type ExportedEvent, fetchEvents, openEventCursor } from "../../db/event.ts";

/** Pages of an export; none after the last one. `close` must follow, also after a failure. */
export type Pages<Row> = { next: () => Promise<Row[]>; close: () => Promise<void> };

const PAGE_ROWS = 500;

/**
 * An app's events in order: those of the table and those that are only in the lake, as one. Of each, no more than a page is
 * in memory.
 */
export async function openEventPages(
  tx: pg.PoolClient,
  range: { appId: number; fromDay: string; untilDay: string },
  cold: ColdEvents,
): Promise<Pages<ExportedEvent>> {
  const frozen = cold.stream(tx, range)[Symbol.asyncIterator]();
  const close = async () => {
    await frozen.return?.();
  };
  try {
    const older = new Ahead<ExportedEvent>(async () => (await frozen.next()).value ?? []);
    // Files get their second names with the first page, before anything else takes time.
    await older.fill();
    await openEventCursor(tx, range);
    const stored = new Ahead(() => fetchEvents(tx));
    return { next: () => nextPage(stored, older), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function nextPage(stored: Ahead<ExportedEvent>, older: Ahead<ExportedEvent>): Promise<ExportedEvent[]> {
  const page: ExportedEvent[] = [];
  while (page.length < PAGE_ROWS) {
    if (!stored.head) await stored.fill();
    if (!older.head) await older.fill();
    const [one, other] = [stored.head, older.head];
    if (!one && !other) break;
    page.push(other && (!one || isBefore(other, one)) ? older.take() : stored.take());
  }
  return page;
}

/** As the table sorts: texts by their bytes. */
function isBefore(one: ExportedEvent, other: ExportedEvent): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs;
  if (one.clientId === other.clientId) return one.fingerprint < other.fingerprint;
  return Buffer.compare(Buffer.from(one.clientId), Buffer.from(other.clientId)) < 0;
}

/** Rows that come page by page, with the next one at hand. */
class Ahead<Row> {
  readonly #load: () => Promise<readonly Row[]>;
  #rows: readonly Row[] = [];
  #at = 0;
  #isEnded = false;

  constructor(load: () => Promise<readonly Row[]>) {
    this.#load = load;
  }

  /** Undefined at the end, and before `fill`. */
  get head(): Row | undefined {
    return this.#rows[this.#at];
  }

  take(): Row {
    const row = this.#rows[this.#at]!;
    this.#at += 1;
    return row;
  }

  async fill(): Promise<void> {
    if (this.#isEnded) return;
    this.#rows = await this.#load();
    this.#at = 0;
    this.#isEnded = this.#rows.length === 0;
  }
}
