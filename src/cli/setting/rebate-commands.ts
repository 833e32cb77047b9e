import { type Command, InvalidArgumentError } from "commander";
import { takeRebates } from "../../admin/operation/cost-files.ts";
import { dropRebate, setRebate } from "../../admin/setting/rebates.ts";
import { REBATE_COLUMNS } from "../../cost/file-import.ts";
import { loadRebates } from "../../db/rebate.ts";
import { shownRebate } from "../../domain/rebate.ts";
import { deskOf } from "../desk.ts";
import { addImportCommand } from "../given-file.ts";
import { addListCommand } from "../list-command.ts";
import { listOf, parseInteger, print } from "../output.ts";
import { parsePlatform } from "../platform-option.ts";
import { withDatabase } from "../session.ts";

type Json = { json?: boolean };
type KeyOptions = { app: number; platform: string; advertiser: string; from: string } & Json;
type SetOptions = KeyOptions & { to?: string; cash?: number; credit?: number };

/** What accounts get back of what their ads cost. */
export function rebateCommands(program: Command): void {
  const rebate = program.command("rebate").description("Rebates of accounts, for the cost that was really paid");

  addListCommand(rebate, {
    description: "List the rebates of an app's accounts",
    load: async ({ pool }, appId) => (await loadRebates(pool, appId)).map(shownRebate),
  });

  withKey(rebate.command("set").description("Set what an account gets back in a period"))
    .option("--to <day>", "last day, included; without it, the period has no end")
    .option("--cash <percent>", "share of the cost that is paid back in money, such as 3.5", parsePercent)
    .option("--credit <percent>", "credit on top of what is paid in, such as 10", parsePercent)
    .action((options: SetOptions) =>
      withDatabase(async (session) => {
        const { to: end_date, cash: cash_percent, credit: credit_percent } = options;
        const body = { ...keyOf(options), end_date, cash_percent, credit_percent };
        const set = await setRebate(deskOf(session), body);
        print(set, options, () => listOf(set));
      }),
    );

  withKey(rebate.command("remove").description("Remove a rebate")).action((options: KeyOptions) =>
    withDatabase(async (session) => {
      await dropRebate(deskOf(session), keyOf(options));
      print({}, options, () => "The rebate was removed.");
    }),
  );

  addImportCommand(
    rebate,
    `Import a CSV file. Columns: ${REBATE_COLUMNS.join(",")}; an empty end_date means no end`,
    takeRebates,
  );
}

function withKey(command: Command): Command {
  return command
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--platform <name>", "ad platform", parsePlatform)
    .requiredOption("--advertiser <id>", "the account, as its costs name it")
    .requiredOption("--from <day>", "first day, such as 2026-11-01")
    .option("--json", "print JSON");
}

function keyOf({ app: app_id, platform: ad_platform, advertiser: advertiser_id, from: start_date }: KeyOptions) {
  return { app_id, ad_platform, advertiser_id, start_date };
}

function parsePercent(text: string): number {
  if (!/^\d{1,3}(\.\d+)?%?$/.test(text)) throw new InvalidArgumentError("It must be a percentage such as 3.5.");
  return Number(text.replace("%", ""));
}
