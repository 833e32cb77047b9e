import { type Command, InvalidArgumentError, Option } from "commander";
import { CALIBERS } from "../../domain/cube.ts";
import { ApiError, UsageError } from "../../errors.ts";
import { type CellBody, readCell } from "../../report/ad/cell-request.ts";
import { explainCell } from "../../report/ad/explain.ts";
import { listOf, parseDay, parseInteger, parseIntegers, parseList, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

type Options = {
  app: number;
  metric: string;
  from: string;
  to: string;
  row: Record<string, string>;
  caliber: CellBody["statistics_caliber"];
  roiVersion: "1" | "2";
  platforms: string[];
  channels: string[];
  versions: number[];
  campaigns: string[];
  json?: boolean;
};

export function explainCommand(program: Command): void {
  program
    .command("explain")
    .description("Explain a number of the ad report: the users, orders and costs that add up to it")
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--metric <name>", "the metric")
    .requiredOption("--from <day>", "first day of the report", parseDay)
    .requiredOption("--to <day>", "last day of the report", parseDay)
    .option("--row <dimension=value>", "a dimension of the row; may be repeated; without it, the total", parsePair, {})
    .addOption(
      new Option("--caliber <caliber>", "the day on which users and their actions count")
        .choices(CALIBERS)
        .default(CALIBERS[0]),
    )
    .addOption(new Option("--roi-version <n>", "2: the precise model").choices(["1", "2"]).default("1"))
    .option("--platforms <names>", "only these ad platforms", parseList, [])
    .option("--channels <names>", "only these channels", parseList, [])
    .option("--versions <numbers>", "only users of these versions", parseIntegers, [])
    .option("--campaigns <ids>", "only these campaigns", parseList, [])
    .option("--json", "print JSON")
    .action((options: Options) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const explained = await explainCell(session.pool, cellOf(options), app);
        const { users, orders, costs, sums, numbers, metric, value } = explained;
        print(explained, options, () =>
          [
            listOf({ metric, value, ...sums }),
            `\n${numbers.users} users\n${tableOf(users)}`,
            `\n${numbers.orders} orders\n${tableOf(orders)}`,
            `\n${numbers.costs} costs\n${tableOf(costs)}`,
          ].join("\n"),
        );
      }),
    );
}

function cellOf(options: Options) {
  try {
    return readCell({
      app_id: options.app,
      metric: options.metric,
      row: options.row,
      date_list: [options.from, options.to],
      statistics_caliber: options.caliber,
      decimal_point: 4,
      roi_version: options.roiVersion === "2" ? 2 : 1,
      filtering: {
        ad_platform_list: options.platforms,
        channel_list: options.channels,
        version_list: options.versions,
        turbo_promoted_object_id_list: options.campaigns,
      },
    });
  } catch (error) {
    throw error instanceof ApiError ? new UsageError(error.message) : error;
  }
}

function parsePair(text: string, row: Record<string, string>): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must look like ad_platform=tencent.");
  return { ...row, [text.slice(0, at)]: text.slice(at + 1) };
}
