import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { TakenHistoryAnswer } from "../../contract/admin/history.ts";
import { CODES, messageOf, UsageError } from "../../errors.ts";
import { offsetAfter } from "../../intake/history-line.ts";
import { adminHeaders } from "../admin-headers.ts";
import { ProgressBar, parseInteger, print, visible } from "../output.ts";
import { findApp, withDatabase, withServer } from "../session.ts";
import { type Block, blocksOf, checkHistory } from "./history-file.ts";
import { LineErrors } from "./line-errors.ts";
import { settle } from "./settle-command.ts";

type Options = { app: number; url?: string; register: boolean; errors?: string; json?: boolean };

const SETTLE_MS_MAX = 3_600_000;
const WAIT_S_MAX = 10;

export function importCommand(program: Command): void {
  program
    .command("import")
    .description("Import past events from a file: one event per line, as `export events` writes them, of any time")
    .argument("<file>", "NDJSON of client_id, type, event, time, properties")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--no-register", "do not register unknown clients; their events are then refused")
    .option("--errors <file>", "write every line that was not stored as it stands to this file, with the reason")
    .option("--url <url>", "address of the server; by default the one on DATA_DIR")
    .option("--json", "print JSON")
    .action(async (file: string, options: Options) => {
      const total = await checkHistory(file);
      const errors = await LineErrors.open(options.errors);
      try {
        await withServer(options.url, (address) => importFile(address, { file, total, errors }, options));
      } finally {
        await errors.close();
      }
    });
}

type History = { file: string; total: number; errors: LineErrors };

async function importFile(address: string, { file, total, errors }: History, options: Options): Promise<void> {
  const headers = await withDatabase(async (session) => {
    await findApp(session, options.app);
    return adminHeaders(session);
  });
  const url = `${address}/admin/api/v1/events/import?app_id=${options.app}&register=${options.register ? "yes" : "no"}`;
  const importer = new Importer({ url, headers }, errors);
  const bar = new ProgressBar("Sending ");
  for await (const block of blocksOf(file)) {
    await importer.send(block);
    bar.show(importer.events, total);
  }
  const settling = new ProgressBar("Applying");
  // Years of history take long to count into the reports; that happens in the background.
  await settle(address, SETTLE_MS_MAX, (done) => settling.show(done, 1), "applied");
  const { events, registered, rejected } = importer;
  for (const told of errors.told()) process.stderr.write(`${visible(told)}\n`);
  print(
    { events, registered, rejected, reasons: errors.reasons() },
    options,
    () => `${events} events sent, ${registered} clients registered, ${rejected} events rejected.`,
  );
}

/** Sends one block after the other, because a client's events must stay in the order of the file. */
class Importer {
  events = 0;
  registered = 0;
  rejected = 0;
  readonly #server: { url: string; headers: Record<string, string> };
  readonly #errors: LineErrors;
  #waitingFor = "";

  constructor(server: { url: string; headers: Record<string, string> }, errors: LineErrors) {
    this.#server = server;
    this.#errors = errors;
  }

  async send({ bytes, numbers }: Block): Promise<void> {
    let sent = 0;
    // The server may take only the first lines, and says how many.
    for (let rest = bytes; rest.length > 0; ) {
      const taken = await this.#post(rest, numbers[sent]!);
      this.events += taken.events;
      this.registered += taken.registered;
      this.rejected += taken.rejected;
      const before = sent - 1;
      await this.#errors.add(taken.errors.map((error) => ({ ...error, line: numbers[before + error.line]! })));
      sent += taken.lines;
      rest = rest.subarray(offsetAfter(rest, taken.lines));
    }
  }

  async #post(body: Buffer, line: number): Promise<TakenHistoryAnswer> {
    for (;;) {
      const { status, retryAfterS, answer } = await this.#ask(body).catch((error) => lost(error, line));
      const { code, msg, data } = answer;
      if (code === CODES.ok.code) return data;
      if (status !== 503 && status !== 429)
        throw new UsageError(`The server refused the lines from ${line} on: ${msg} (code ${code})`);
      // Until the disk or the journal has room again, or the database is back.
      if (msg !== this.#waitingFor) process.stderr.write(`Waiting at line ${line}: ${visible(msg)}\n`);
      this.#waitingFor = msg;
      await sleep(1_000 * Math.min(WAIT_S_MAX, retryAfterS));
    }
  }

  async #ask(body: Buffer) {
    const { url, headers } = this.#server;
    const response = await fetch(url, { method: "POST", headers, body });
    const answer = (await response.json()) as { code: number; msg: string; data: TakenHistoryAnswer };
    return { status: response.status, retryAfterS: Number(response.headers.get("retry-after")) || 1, answer };
  }
}

function lost(error: unknown, line: number): never {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  throw new UsageError(
    `The connection to the server was lost at line ${line} (${messageOf(cause)}). Run the import again: it adds only what is missing.`,
  );
}
