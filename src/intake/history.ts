import type { Clock } from "../clock.ts";
import { type Admission, admitEvents, type EventError } from "../domain/event/admission.ts";
import { type JsonObject, textOf } from "../domain/json.ts";
import { ApiError } from "../errors.ts";
import type { EntryHead } from "../journal/entry.ts";
import { LIMITS } from "../limits.ts";
import { ownTurn } from "../own-turn.ts";
import type { ServedApp } from "./app-directory.ts";
import { isBlank, linesOf, readHistoryLine } from "./history-line.ts";
import type { Intake } from "./intake.ts";
import type { KnownClients } from "./known-clients.ts";

/** Lines judged and journaled in one turn of the event loop: a few milliseconds, whatever they hold. */
const LINES_AT_ONCE = 500;

export type HistoryContext = { clock: Clock; known: KnownClients; intake: Intake };

/** Why the event of a line was not stored as it stands. */
export type LineError = Omit<EventError, "index"> & { line: number; client_id: string };

/** What became of the lines that were taken. */
export type TakenHistory = {
  /** The lines from the beginning that were taken, blank ones included. */
  lines: number;
  events: number;
  registered: number;
  rejected: number;
  /** At most one per event. */
  errors: LineError[];
};

/**
 * Takes past events of many clients, one per line, into the journal, and registers unknown clients at the time of their
 * first event that can be stored. Nothing waits for apply. A client's events stay in the order of the lines.
 *
 * The answer may cover only the first lines: when the journal refuses more, or when there are enough errors for one
 * answer. The caller then sends the rest again.
 */
export async function takeHistory(
  context: HistoryContext,
  app: ServedApp,
  history: { bytes: Buffer; registers: boolean },
): Promise<TakenHistory> {
  const taken: TakenHistory = { lines: 0, events: 0, registered: 0, rejected: 0, errors: [] };
  try {
    for (const piece of piecesOf(history.bytes)) {
      await ownTurn();
      await takePiece(context, app, { lines: piece, registers: history.registers }, taken);
      if (taken.errors.length > LIMITS.errorsListed - LINES_AT_ONCE) break;
    }
  } catch (error) {
    if (!(error instanceof ApiError) || taken.lines === 0) throw error;
  }
  return taken;
}

/** Lines in pieces that the event loop can bear. */
function* piecesOf(bytes: Buffer): Generator<Buffer[]> {
  let piece: Buffer[] = [];
  let pieceBytes = 0;
  for (const line of linesOf(bytes)) {
    const isFull = piece.length === LINES_AT_ONCE || pieceBytes + line.length > LIMITS.bodyBytesAtOnce;
    if (isFull && piece.length > 0) {
      yield piece;
      piece = [];
      pieceBytes = 0;
    }
    piece.push(line);
    pieceBytes += line.length;
  }
  if (piece.length > 0) yield piece;
}

/** The events of one client in a piece, as text and as values. `numbers`: the lines they stand on. */
type Sent = { texts: Buffer[]; events: JsonObject[]; numbers: number[] };

/** Adds to `taken` only once everything of the piece is durable, so that a failed piece can be sent again. */
async function takePiece(
  context: HistoryContext,
  app: ServedApp,
  { lines, registers }: { lines: readonly Buffer[]; registers: boolean },
  taken: TakenHistory,
): Promise<void> {
  const byClient = readPiece(lines, taken.lines + 1);
  const unknown = await unknownOf(context, app, [...byClient.keys()]);
  const piece = new Piece(context, app);
  for (const [clientId, sent] of byClient) {
    // Asked again: the client may have registered itself since the look-up.
    if (!unknown.has(clientId) || context.known.isKnown(app.appId, clientId)) piece.take(clientId, sent);
    else if (registers) piece.takeNew(clientId, sent);
    else piece.refuse(clientId, sent);
  }
  await piece.durable();
  taken.lines += lines.length;
  for (const { events } of byClient.values()) taken.events += events.length;
  taken.registered += piece.registered;
  taken.rejected += piece.rejected;
  taken.errors.push(...piece.errors.sort((one, other) => one.line - other.line));
}

function readPiece(lines: readonly Buffer[], firstNumber: number): Map<string, Sent> {
  const byClient = new Map<string, Sent>();
  lines.forEach((text, index) => {
    if (isBlank(text)) return;
    const line = readHistoryLine(text);
    if (line.kind === "faulty") throw new ApiError("badParameter", `Line ${firstNumber + index} ${line.fault}.`);
    const sent = byClient.get(line.clientId) ?? { texts: [], events: [], numbers: [] };
    byClient.set(line.clientId, sent);
    sent.texts.push(text);
    // The past is what an import is for.
    line.event.time_free = true;
    sent.events.push(line.event);
    sent.numbers.push(firstNumber + index);
  });
  return byClient;
}

/** The clients that have to be registered first: none where the app does not require it. */
async function unknownOf(
  { known }: HistoryContext,
  app: ServedApp,
  clientIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (!app.requireRegistration) return new Set();
  const states = await Promise.all(clientIds.map((clientId) => known.check(app.appId, clientId)));
  // Collect admits events while the database cannot tell, and apply rejects those of unknown clients. An import can wait.
  if (states.includes("unknown")) {
    throw new ApiError("overloaded", "The database cannot tell yet which clients are registered.", { retryAfterS: 1 });
  }
  return new Set(clientIds.filter((_, index) => states[index] === "no"));
}

/** The entries of one piece on their way into the journal, and what becomes of its events. */
class Piece {
  registered = 0;
  rejected = 0;
  readonly errors: LineError[] = [];
  readonly #context: HistoryContext;
  readonly #app: ServedApp;
  readonly #nowMs: number;
  readonly #accepted: Promise<unknown>[] = [];

  constructor(context: HistoryContext, app: ServedApp) {
    this.#context = context;
    this.#app = app;
    this.#nowMs = context.clock();
  }

  /** Refuses the events of a client that is not registered. As with collect, the journal does not see them. */
  refuse(clientId: string, { events, numbers }: Sent): void {
    this.rejected += events.length;
    events.forEach(({ event }, index) => {
      const message = "This client_id is not registered yet.";
      this.#tell(clientId, numbers[index]!, { event: textOf(event), reason: "unregistered", message });
    });
  }

  take(clientId: string, sent: Sent): void {
    this.#append(clientId, sent, this.#judge(clientId, sent), this.#app.requireRegistration ? "yes" : "not_required");
  }

  /** Registers the client first, unless none of its events can be stored. */
  takeNew(clientId: string, sent: Sent): void {
    const admission = this.#judge(clientId, sent);
    const rejected = new Set(admission.rejected.map(([index]) => index));
    const first = sent.events.find((_, index) => !rejected.has(index));
    if (first) this.#register(clientId, first);
    this.#append(clientId, sent, admission, first ? "yes" : "unknown");
  }

  /** Resolves once everything is durable, and fails if anything is not: the piece must then be sent again. */
  async durable(): Promise<void> {
    const outcomes = await Promise.allSettled(this.#accepted);
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }

  #judge(clientId: string, { events, numbers }: Sent): Admission {
    const admission = admitEvents(events, undefined, { nowMs: this.#nowMs, metadata: this.#app.metadata });
    this.rejected += admission.rejected.length;
    let told = -1;
    for (const { index, ...error } of admission.errors) {
      if (index !== told) this.#tell(clientId, numbers[index]!, error);
      told = index;
    }
    return admission;
  }

  #tell(clientId: string, line: number, error: Omit<EventError, "index">): void {
    this.errors.push({ line, client_id: clientId, ...error });
  }

  #register(clientId: string, { time }: JsonObject): void {
    const { known, intake } = this.#context;
    const { appId } = this.#app;
    const body = {
      client_id: clientId,
      name: clientId,
      channel: "import",
      version: 0,
      history_info: { create_time: time, company: "" },
    };
    const head = this.#headOf("initialize", clientId, "yes");
    const accepted = intake.accept(head, Buffer.from(JSON.stringify(body)));
    this.#accepted.push(accepted.then((position) => known.journaled(appId, clientId, position)));
    this.registered += 1;
  }

  /** The lines go into the journal as they are: apply reads the fields that it knows. */
  #append(clientId: string, { texts }: Sent, admission: Admission, registered: EntryHead["registered"]): void {
    const head = this.#headOf("collect", clientId, registered);
    const { rejected, omitted, cut } = admission;
    if (rejected.length > 0) head.rejected = rejected;
    if (omitted.length > 0) head.omitted = omitted;
    if (cut.length > 0) head.cut = cut;
    this.#accepted.push(this.#context.intake.accept(head, collectBodyOf(texts)));
  }

  /** The operator's address and user agent do not belong in the users' records. */
  #headOf(kind: EntryHead["kind"], client: string, registered: EntryHead["registered"]): EntryHead {
    return { kind, app: this.#app.appId, client, at: this.#nowMs, ip: "", ua: "", registered };
  }
}

const [OPENING, COMMA, CLOSING] = [Buffer.from('{"event_list":['), Buffer.from(","), Buffer.from("]}")];

/** The body of a collect call with these events. */
function collectBodyOf(texts: readonly Buffer[]): Buffer {
  return Buffer.concat([OPENING, ...texts.flatMap((text, index) => (index === 0 ? [text] : [COMMA, text])), CLOSING]);
}
