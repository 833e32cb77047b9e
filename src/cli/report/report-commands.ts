import { type Command, InvalidArgumentError, Option } from "commander";
import { type AdReportBody, ReportClient, ReportError } from "../../client/report-client.ts";
import { csvLine } from "../../domain/csv.ts";
import { CALIBERS } from "../../domain/cube.ts";
import { messageOf, UsageError } from "../../errors.ts";
import type { OrderFilterBody, PostbackFilterBody, UserFilterBody } from "../../report/list/list-request.ts";
import { parseDay, parseInteger, parseIntegers, parseList, print, tableOf } from "../output.ts";
import { withServer } from "../session.ts";

type Row = Record<string, unknown>;
type Common = { app: number; appKey: string; url?: string; csv?: boolean; json?: boolean };
type AdOptions = Common & {
  from: string;
  to: string;
  metrics: string[];
  dims: string[];
  caliber: AdReportBody["statistics_caliber"];
  decimals: "2" | "4";
  roiVersion: "1" | "2";
  platforms: string[];
  channels: string[];
  versions: number[];
  campaigns: string[];
  names: string[];
};
type ListOptions = Common & {
  userFilter: UserFilterBody;
  eventFilter: object;
  sort: { field: string; sort: 0 | 1 }[];
  page: number;
  pageSize: number;
};

/** The reports as developer applications get them: over HTTP, signed, within the rate. */
export function reportCommands(program: Command): void {
  const report = program.command("report").description("Pull a report as a developer application");
  adCommand(report);
  listCommand(report, "orders", "The order list", (client, body) =>
    client.orderList({ ...body, event_filtering: body.event_filtering as OrderFilterBody }),
  );
  listCommand(report, "users", "The user list", (client, body) =>
    client.userList({ ...body, event_filtering: body.event_filtering as PostbackFilterBody }),
  );
}

function adCommand(report: Command): void {
  withCommon(report.command("ad").description("The ad report"))
    .requiredOption("--from <day>", "first day", parseDay)
    .requiredOption("--to <day>", "last day", parseDay)
    .requiredOption("--metrics <names>", "metrics, separated by commas; docs/METRICS.md lists them", parseList)
    .option("--dims <names>", "dimensions to group by, separated by commas", parseList, [])
    .addOption(
      new Option("--caliber <caliber>", "the day on which users and their actions count")
        .choices(CALIBERS)
        .default(CALIBERS[0]),
    )
    .addOption(new Option("--decimals <n>", "decimals of the numbers").choices(["2", "4"]).default("4"))
    .addOption(new Option("--roi-version <n>", "2: the precise model").choices(["1", "2"]).default("1"))
    .option("--platforms <names>", "only these ad platforms", parseList, [])
    .option("--channels <names>", "only these channels", parseList, [])
    .option("--versions <numbers>", "only users of these versions", parseIntegers, [])
    .option("--campaigns <ids>", "only these campaigns", parseList, [])
    .option("--names <fields>", "names and states to add, e.g. advertiser_name,AidName,CidName", parseList, [])
    .action((options: AdOptions) =>
      pull(options, async (client) => {
        const answer = await client.adReport(adBody(options));
        const total = answer.total.map((row) => ({ ...blanks(options.dims), ...row }));
        show(answer, [...answer.items, ...total], options);
      }),
    );
}

function adBody(options: AdOptions): AdReportBody {
  return {
    app_id: options.app,
    date_list: [options.from, options.to],
    metrics_list: options.metrics,
    dims_list: options.dims,
    statistics_caliber: options.caliber,
    decimal_point: options.decimals === "2" ? 2 : 4,
    roi_version: options.roiVersion === "2" ? 2 : 1,
    filtering: {
      ad_platform_list: options.platforms,
      channel_list: options.channels,
      version_list: options.versions,
      turbo_promoted_object_id_list: options.campaigns,
    },
    dims_metrics_list: options.names,
  };
}

/** A dash for each dimension, for the last line, which holds the totals. */
function blanks(dims: readonly string[]): Row {
  return Object.fromEntries(dims.map((name) => [name, "-"]));
}

type ListBody = {
  app_id: number;
  user_filtering: UserFilterBody;
  event_filtering: object;
  order_by_list: { field: string; sort: 0 | 1 }[];
  page: number;
  page_size: number;
};

function listCommand(
  report: Command,
  name: string,
  text: string,
  run: (client: ReportClient, body: ListBody) => Promise<{ list: Row[]; page_info: { total_number: number } }>,
): void {
  withCommon(report.command(name).description(text))
    .option("--user-filter <json>", 'user_filtering, e.g. {"ad_platform_list":["tencent"]}', parseObject, {})
    .option("--event-filter <json>", "event_filtering", parseObject, {})
    .option("--sort <field:direction>", "sort by a field, e.g. Amount:desc; may be repeated", parseSort, [])
    .option("--page <n>", "page, from 1", parseInteger, 1)
    .option("--page-size <n>", "rows per page, at most 500", parseInteger, 20)
    .action((options: ListOptions) =>
      pull(options, async (client) => {
        const answer = await run(client, {
          app_id: options.app,
          user_filtering: options.userFilter,
          event_filtering: options.eventFilter,
          order_by_list: options.sort,
          page: options.page,
          page_size: options.pageSize,
        });
        show(answer, answer.list, options);
        process.stderr.write(`${answer.list.length} of ${answer.page_info.total_number}\n`);
      }),
    );
}

function withCommon(command: Command): Command {
  return command
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--app-key <key>", "app_key of the developer application")
    .option("--url <url>", "address of the server; by default the one on DATA_DIR")
    .option("--csv", "print CSV")
    .option("--json", "print JSON");
}

async function pull(options: Common, run: (client: ReportClient) => Promise<void>): Promise<void> {
  await withServer(options.url, async (baseUrl) => {
    try {
      await run(new ReportClient({ baseUrl, appKey: options.appKey }));
    } catch (error) {
      if (error instanceof ReportError) throw new UsageError(`${error.message} (code ${error.code})`);
      if (error instanceof TypeError) throw new UsageError(`No server answers at ${baseUrl}: ${messageOf(error)}.`);
      throw error;
    }
  });
}

function show(answer: object, rows: readonly Row[], options: Common): void {
  if (options.csv) process.stdout.write(csvOf(rows));
  else print(answer, options, () => tableOf(rows));
}

function csvOf(rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const names = Object.keys(rows[0] ?? {});
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map(csvLine).join("");
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Refused below.
  }
  throw new InvalidArgumentError("It must be a JSON object.");
}

function parseSort(text: string, before: ListOptions["sort"]): ListOptions["sort"] {
  const [field = "", direction = "asc"] = text.split(":");
  if (field === "" || !["asc", "desc"].includes(direction)) {
    throw new InvalidArgumentError("It must look like Amount:desc.");
  }
  return [...before, { field, sort: direction === "desc" ? 1 : 0 }];
}
