import type { Command } from "commander";
import { LIMITS } from "../../limits.ts";
import { listAdRevenue } from "../../report/list/ad-revenue-list.ts";
import { parseDay, parseInteger, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

type Options = { app: number; from: string; to: string; unit?: string; page: number; json?: boolean };

/** What platforms say that ad units earned, beside what the reports count. */
export function adRevenueCommand(program: Command): void {
  program
    .command("ad-revenue")
    .description("Compare what platforms say that ad units earned with what the reports count, by day and unit")
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--from <day>", "first day", parseDay)
    .requiredOption("--to <day>", "last day, included", parseDay)
    .option("--unit <id>", "only this ad unit")
    .option("--page <n>", `page of ${LIMITS.pageSize} rows`, parseInteger, 1)
    .option("--json", "print JSON")
    .action((options: Options) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const range = { appId, fromDay: options.from, toDay: options.to, adUnit: options.unit };
        const page = { page: options.page, pageSize: LIMITS.pageSize };
        const found = await listAdRevenue(session.pool, range, page);
        const rows = [...found.days, { date: "all", told_by: "", ad_unit_id: "", ...found.total }];
        print(found, options, () =>
          tableOf(rows.map((row) => ({ ...row, told: row.told ?? "", difference: row.difference ?? "" }))),
        );
      }),
    );
}
