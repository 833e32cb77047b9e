import { parseJson } from "../../src/domain/json.ts";
import { decodeEntry, type EntryHead } from "../../src/journal/entry.ts";
import { plainBody } from "../../src/journal/packed-body.ts";
import { JournalReader } from "../../src/journal/reader.ts";

/** One record of the journal, with what the truth needs of it. */
export type BookedRecord = {
  from: number;
  until: number;
  kind: EntryHead["kind"];
  app: number;
  client: string;
  /** Whether the server knew that the client was registered; otherwise apply decides. */
  isSure: boolean;
  /** The number of its events in the ledger, and the serials of those that the market made. */
  events: number;
  serials: string[];
  /** The people whom it concerns: the client, or the owner of a touch's token. */
  people: string[];
};

/** A range of the journal that was destroyed on purpose. */
export type Stretch = { from: number; until: number };

type Sums = { events: number; touches: number };

const READ_BYTES = 4 * 1024 * 1024;
const PERSON = /p\d{6}[0-9a-f]{6}/g;
const REGISTRATIONS: readonly string[] = ["register", "initialize"];
const TOUCHES: readonly string[] = ["click", "impression"];

/**
 * The content of the journal, read beside the server: what the ledger must add up to, and what is gone where records were
 * destroyed. It never says what had to be there: that follows from the acknowledgements.
 */
export class JournalBook {
  readonly #dir: string;
  #reader: JournalReader;
  readonly #sums = new Map<number, Sums>();
  /** For each serial, the intact records that hold it, and how many of them are sure to be stored. */
  readonly #serials = new Map<string, { records: number; sure: number }>();
  readonly #registrations = new Map<string, number>();
  /** The destroyed ranges, and the people concerned. */
  readonly stretches: Stretch[] = [];
  readonly struckPeople = new Set<string>();
  readonly #struckSerials = new Set<string>();
  /** Damage that no fault caused. */
  readonly surprises: Stretch[] = [];

  constructor(dir: string) {
    this.#dir = dir;
    this.#reader = new JournalReader(dir, 0);
  }

  /** Reads what has become durable since the last call. */
  async readOn(durable: number): Promise<void> {
    for (;;) {
      const items = await this.#reader.read({ until: durable, bytesMax: READ_BYTES });
      if (items.length === 0) return;
      for (const item of items) {
        if (item.kind === "record") this.#book(recordOf(item.payload, item));
        else this.surprises.push({ from: item.from, until: item.until });
      }
    }
  }

  /** The records after a position, which apply may not have reached yet. */
  async recordsFrom(from: number, durable: number): Promise<BookedRecord[]> {
    await this.readOn(durable);
    const reader = new JournalReader(this.#dir, from);
    const records: BookedRecord[] = [];
    for (;;) {
      const items = await reader.read({ until: durable, bytesMax: READ_BYTES });
      if (items.length === 0) break;
      for (const item of items) if (item.kind === "record") records.push(recordOf(item.payload, item));
    }
    await reader.close();
    return records;
  }

  /**
   * Marks records as destroyed. `stretches` are the ranges in which the server must find damage; none if the end was cut
   * off.
   */
  async strike(records: readonly BookedRecord[], stretches: readonly Stretch[]): Promise<void> {
    for (const record of records) this.#unbook(record);
    this.stretches.push(...stretches);
    // The files have changed, so the reader starts anew at its position.
    const { position } = this.#reader;
    await this.#reader.close();
    const cutAt = stretches.length === 0 ? Math.min(...records.map(({ from }) => from)) : position;
    this.#reader = new JournalReader(this.#dir, cutAt);
  }

  sumsOf(app: number): Sums {
    return this.#sums.get(app) ?? { events: 0, touches: 0 };
  }

  /** Whether an acknowledged event may be missing, because all its records or its client's registration were destroyed. */
  isExcused(serial: string, client: string): boolean {
    const { records, sure } = this.#serials.get(serial) ?? { records: 0, sure: 0 };
    if (records === 0) return this.#struckSerials.has(serial);
    return sure === 0 && this.isUnregistered(client);
  }

  /** Whether every registration of the client was destroyed. */
  isUnregistered(client: string): boolean {
    return this.#registrations.get(client) === 0;
  }

  close(): Promise<void> {
    return this.#reader.close();
  }

  #book(record: BookedRecord): void {
    this.#add(record, 1);
  }

  #unbook(record: BookedRecord): void {
    this.#add(record, -1);
    for (const serial of record.serials) this.#struckSerials.add(serial);
    for (const person of record.people) this.struckPeople.add(person);
  }

  #add({ app, kind, client, events, serials, isSure }: BookedRecord, sign: 1 | -1): void {
    const sums = this.sumsOf(app);
    sums.events += sign * events;
    sums.touches += TOUCHES.includes(kind) ? sign : 0;
    this.#sums.set(app, sums);
    if (REGISTRATIONS.includes(kind)) this.#registrations.set(client, (this.#registrations.get(client) ?? 0) + sign);
    for (const serial of serials) {
      const known = this.#serials.get(serial) ?? { records: 0, sure: 0 };
      this.#serials.set(serial, { records: known.records + sign, sure: known.sure + (isSure ? sign : 0) });
    }
  }
}

function recordOf(payload: Buffer, { from, until }: Stretch): BookedRecord {
  const entry = decodeEntry(payload);
  const { head } = entry;
  const body = plainBody(entry);
  const { kind, app, client, registered } = head;
  const text = body.toString("utf8");
  const list = kind === "collect" ? (parseJson(body) as { event_list: Sent[] }).event_list : [];
  const isOneEvent = kind === "consumer_event" || kind === "handle_event";
  return {
    from,
    until,
    kind,
    app,
    client,
    isSure: registered === "yes",
    events: isOneEvent ? 1 : list.length,
    serials: list.flatMap((sent) => (typeof sent?.properties?.serial === "string" ? [sent.properties.serial] : [])),
    people: [...new Set([client, ...(text.match(PERSON) ?? [])])].filter((one) => one !== ""),
  };
}

type Sent = { properties?: { serial?: unknown } } | null;
