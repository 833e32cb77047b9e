import { createReadStream, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { App } from "../../db/app.ts";
import { isObject, type JsonObject, type JsonValue, parseJsonWithIds } from "../../domain/json.ts";
import { isClientId } from "../../domain/user/identity.ts";
import { CODES, UsageError } from "../../errors.ts";
import { ProgressBar, parseInteger, print } from "../output.ts";
import { findApp, withDatabase, withServer } from "../session.ts";
import { settle } from "./settle-command.ts";

type Options = { app: number; url?: string; register: boolean; json?: boolean };

/** Lines sent together: their clients in parallel, and each client's events in the order of the file. */
const LINES_PER_ROUND = 4_000;
const EVENTS_PER_REQUEST = 500;
const BYTES_PER_REQUEST = 1024 * 1024;
const REQUESTS_AT_ONCE = 8;
const SETTLE_MS_MAX = 3_600_000;

export function importCommand(program: Command): void {
  program
    .command("import")
    .description("Import past events from a file: one event per line, as `export events` writes them, of any time")
    .argument("<file>", "NDJSON of client_id, type, event, time, properties")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--no-register", "do not register unknown clients; their events are then refused")
    .option("--url <url>", "address of the server; by default the one on DATA_DIR")
    .option("--json", "print JSON")
    .action(async (file: string, options: Options) => {
      const total = await checkFile(file);
      await withServer(options.url, async (address) => {
        const app = await withDatabase((session) => findApp(session, options.app));
        const importer = new Importer(address, app, options.register);
        const bar = new ProgressBar("Sending ");
        let events = 0;
        for await (const round of roundsOf(file)) {
          await importer.send(round);
          events += round.length;
          bar.show(events, total);
        }
        const settling = new ProgressBar("Applying");
        // Years of history take long to count into the reports; that happens in the background.
        await settle(address, SETTLE_MS_MAX, (done) => settling.show(done, 1), "applied");
        const result = { events, registered: importer.registered, rejected: importer.rejected };
        print(
          result,
          options,
          () => `${events} events sent, ${result.registered} clients registered, ${result.rejected} events rejected.`,
        );
      });
    });
}

type Line = { clientId: string; event: JsonObject };

/** Checks the whole file first: a bad line is named, and nothing is imported. */
async function checkFile(file: string): Promise<number> {
  try {
    statSync(file);
  } catch {
    throw new UsageError(`${file} cannot be read.`);
  }
  let count = 0;
  for await (const round of roundsOf(file)) count += round.length;
  return count;
}

async function* roundsOf(file: string): AsyncGenerator<Line[]> {
  let round: Line[] = [];
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (text.trim() === "") continue;
    round.push(parseLine(text, number));
    if (round.length < LINES_PER_ROUND) continue;
    yield round;
    round = [];
  }
  if (round.length > 0) yield round;
}

function parseLine(text: string, number: number): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(`Line ${number} is not JSON; nothing was imported.`);
  }
  const clientId = isObject(value) ? exactId(value.client_id, text) : undefined;
  if (!isObject(value) || (typeof clientId !== "string" && typeof clientId !== "number")) {
    throw new UsageError(`Line ${number} has no client_id; nothing was imported.`);
  }
  if (!isClientId(String(clientId))) {
    throw new UsageError(`Line ${number} has an invalid client_id; nothing was imported.`);
  }
  const { client_id: _, received_at: __, ...event } = value;
  return { clientId: String(clientId), event: { ...event, time_free: true } };
}

/** The exact id. A number too long for a double has lost digits, so it is read again from the text. */
function exactId(value: JsonValue | undefined, text: string): JsonValue | undefined {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  return (parseJsonWithIds(Buffer.from(text)) as JsonObject).client_id;
}

class Importer {
  registered = 0;
  rejected = 0;
  readonly #base: string;
  readonly #app: App;
  readonly #registers: boolean;

  constructor(address: string, app: App, registers: boolean) {
    this.#base = `${address}/event_center/api/v1`;
    this.#app = app;
    this.#registers = registers;
  }

  async send(round: readonly Line[]): Promise<void> {
    const byClient = new Map<string, JsonObject[]>();
    for (const { clientId, event } of round) {
      const events = byClient.get(clientId);
      if (events) events.push(event);
      else byClient.set(clientId, [event]);
    }
    const waiting = [...byClient];
    const lane = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await this.#sendClient(next[0], next[1]);
    };
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, lane));
  }

  async #sendClient(clientId: string, events: readonly JsonObject[]): Promise<void> {
    for (const eventList of partsOf(events)) {
      const body = { client_id: clientId, event_list: eventList };
      let answer = await this.#post("event/collect/", body);
      if (answer.code === 2000 && this.#registers) {
        await this.#register(clientId, eventList[0]!);
        answer = await this.#post("event/collect/", body);
      }
      if (answer.code !== CODES.ok.code && answer.code !== CODES.notRegistered.code)
        throw new UsageError(`The server refused events of ${JSON.stringify(clientId)}: ${answer.msg}`);
      if (answer.code === 2000) this.rejected += eventList.length;
      this.rejected += answer.extra?.errors?.filter((error) => error.reason !== "bad_property").length ?? 0;
    }
  }

  /** Registers a past client as of its first event. */
  async #register(clientId: string, first: JsonObject): Promise<void> {
    const createTime = typeof first.time === "number" ? first.time : undefined;
    const body = {
      client_id: clientId,
      name: clientId,
      channel: "import",
      version: 0,
      history_info: { create_time: createTime, company: "" },
    };
    const answer = await this.#post("user/initialize/", body);
    if (answer.code !== CODES.ok.code)
      throw new UsageError(`The server refused to register ${JSON.stringify(clientId)}: ${answer.msg}`);
    this.registered += 1;
  }

  async #post(
    path: string,
    body: object,
  ): Promise<{ code: number; msg: string; extra?: { errors?: { reason: string }[] } }> {
    for (;;) {
      const url = `${this.#base}/${path}?access_token=${this.#app.accessToken}`;
      const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
      const answer = (await response.json()) as { code: number; msg: string };
      if (response.status !== 503) return answer;
      // The server asks to wait until its disk or its journal has room again.
      await sleep(1_000);
    }
  }
}

/** Parts that are not larger than the server accepts by default. */
function* partsOf(events: readonly JsonObject[]): Generator<JsonObject[]> {
  let part: JsonObject[] = [];
  let bytes = 0;
  for (const event of events) {
    const eventBytes = Buffer.byteLength(JSON.stringify(event));
    if (part.length > 0 && (part.length === EVENTS_PER_REQUEST || bytes + eventBytes > BYTES_PER_REQUEST)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(event);
    bytes += eventBytes;
  }
  if (part.length > 0) yield part;
}
