import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import type { TakenRefunds } from "../../contract/admin/refund.ts";
import { FileError } from "../../cost/csv-file.ts";
import { type FileRefund, REFUND_COLUMNS, readRefunds } from "../../cost/refund-file.ts";
import { CODES, messageOf, UsageError } from "../../errors.ts";
import { adminHeaders } from "../admin-headers.ts";
import { ProgressBar, parseInteger, print, visible } from "../output.ts";
import { findApp, withDatabase, withServer } from "../session.ts";

type Options = { app: number; url?: string; json?: boolean };

/** Fewer bytes than the server accepts, however long the ids are. */
const REFUNDS_PER_REQUEST = 2_000;

export function refundCommands(program: Command): void {
  const refund = program.command("refund").description("Refunds of orders");
  refund
    .command("import")
    .description(
      `Import a CSV file. Columns: ${REFUND_COLUMNS.join(",")}; the last two are optional. amount is in major units, ` +
        "and empty for all that is left of the order. time is in the app's time zone. A wrong line is named before " +
        "anything is stored. What is stored stays: after an interruption, run it again to add only what is missing",
    )
    .argument("<file>", "the file; - for standard input")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--url <url>", "address of the server; by default the one on DATA_DIR")
    .option("--json", "print JSON")
    .action((path: string, options: Options) => importFile(path, options));
}

/** Goes through the server, whose journal keeps the refunds. */
async function importFile(path: string, options: Options): Promise<void> {
  // Opened before anything else, so that a missing file is reported in one sentence.
  const file = path === "-" ? process.stdin : (await open(path).catch(unreadable)).createReadStream();
  await withServer(options.url, async (address) => {
    const { app, headers } = await withDatabase(async (session) => ({
      app: await findApp(session, options.app),
      headers: { ...(await adminHeaders(session)), "content-type": "text/csv" },
    }));
    // A wrong line is named before anything is sent.
    const refunds = await readRefunds(file, { ...app, nowMs: systemClock() }).catch(asUsageError);
    const url = `${address}/admin/api/v1/refund/import?app_id=${app.appId}`;
    const sum: TakenRefunds = { rows: 0, new: 0, same: 0, unknown_orders: 0, first_unknown: [], state: "applied" };
    const bar = new ProgressBar("Importing");
    const importer = new Importer(url, headers);
    for (let at = 0; at < refunds.length; at += REFUNDS_PER_REQUEST) {
      add(sum, await importer.post(csvOf(refunds.slice(at, at + REFUNDS_PER_REQUEST))));
      bar.show(sum.rows, refunds.length);
    }
    print(sum, options, () => tellTaken(sum));
  });
}

function unreadable(error: unknown): never {
  throw new UsageError(`The file cannot be read: ${messageOf(error)}.`);
}

function asUsageError(error: unknown): never {
  throw error instanceof FileError ? new UsageError(error.message) : error;
}

/** The refunds as the server reads them. Not the CSV of our exports, which are written for spreadsheets. */
function csvOf(refunds: readonly FileRefund[]): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = refunds.map(({ order_id, amount, time, refund_id, currency }) =>
    [quoted(order_id), amount === null ? "" : (amount / 100).toFixed(2), time, quoted(refund_id), currency].join(),
  );
  return [REFUND_COLUMNS.join(), ...lines, ""].join("\n");
}

class Importer {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  #waitingFor = "";

  constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  async post(body: string): Promise<TakenRefunds> {
    for (;;) {
      const response = await fetch(this.#url, { method: "POST", headers: this.#headers, body });
      const { code, msg, data } = (await response.json()) as { code: number; msg: string; data: TakenRefunds };
      if (code === CODES.ok.code) return data;
      if (response.status !== 503) throw new UsageError(`${msg} (code ${code})`);
      // The server asks to wait until its disk or its journal has room again.
      if (msg !== this.#waitingFor) process.stderr.write(`Waiting: ${visible(msg)}\n`);
      this.#waitingFor = msg;
      await sleep(1_000);
    }
  }
}

const UNKNOWN_SHOWN = 10;

function add(sum: TakenRefunds, taken: TakenRefunds): void {
  for (const name of ["rows", "new", "same", "unknown_orders"] as const) sum[name] += taken[name];
  sum.first_unknown = [...new Set([...sum.first_unknown, ...taken.first_unknown])].slice(0, UNKNOWN_SHOWN);
  if (taken.state === "accepted") sum.state = "accepted";
}

function tellTaken({ new: fresh, same, unknown_orders, first_unknown, state }: TakenRefunds): string {
  return [
    `${fresh} refunds were imported; ${same} were stored already.`,
    ...(unknown_orders > 0
      ? [`${unknown_orders} refer to unknown orders and wait for them: ${first_unknown.join(", ")}.`]
      : []),
    ...(state === "accepted" ? ["They will count when the journal has been applied up to this point."] : []),
  ].join("\n");
}
