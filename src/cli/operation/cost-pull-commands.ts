import type { Command } from "commander";
import { beginPull } from "../../admin/operation/cost-pulls.ts";
import { systemClock } from "../../clock.ts";
import { pullRecord, statusRecord } from "../../cost/pull-record.ts";
import { CostPuller } from "../../cost/puller.ts";
import { loadCostAccounts } from "../../db/cost-pull.ts";
import { firstShownDay } from "../../domain/cost-schedule.ts";
import { createLog } from "../../log.ts";
import { deskOf } from "../desk.ts";
import { ProgressBar, parseDay, parseInteger, print, tableOf } from "../output.ts";
import { parsePlatform } from "../platform-option.ts";
import { findApp, withDatabase } from "../session.ts";

type Json = { json?: boolean };
type PullArguments = { app: number; platform?: string; advertiser?: string; from?: string; to?: string } & Json;

/** A command has four connections, and each account takes two. */
const ACCOUNTS_AT_ONCE = 2;

/** Pulling costs from the platforms. */
export function costPullCommands(cost: Command): void {
  cost
    .command("pull")
    .description("Pull costs from the platforms now; without --from and --to, of all days that are not settled")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--platform <platform>", "only accounts at this ad platform", parsePlatform)
    .option("--advertiser <id>", "only this account")
    .option("--from <day>", "first day", parseDay)
    .option("--to <day>", "last day, included", parseDay)
    .option("--json", "print JSON")
    .action(pull);

  cost
    .command("status")
    .description("How far the costs of each account have been pulled")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: { app: number } & Json) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const nowMs = systemClock();
        const found = await loadCostAccounts(session.pool, { fromDay: firstShownDay(nowMs), of: { appId } });
        const accounts = found.map((account) => statusRecord(account, nowMs));
        print(accounts, options, () =>
          tableOf(accounts.map(({ notes, ...rest }) => ({ ...rest, notes: notes.join(" ") }))),
        );
      }),
    );
}

async function pull(options: PullArguments): Promise<void> {
  await withDatabase(async (session) => {
    const { pool, vault, config } = session;
    const { app: app_id, platform: ad_platform, advertiser: advertiser_id, from, to } = options;
    const asked = { app_id, ad_platform, advertiser_id, from, to };
    const { app, accounts, plan } = await beginPull(deskOf(session), asked);
    const { currency } = app;
    const log = createLog("error");
    const mayCallPrivate = config.platformPrivateNetworks;
    const limits = { accountsAtOnce: ACCOUNTS_AT_ONCE, mayCallPrivate };
    const puller = new CostPuller({ pool, vault, log, clock: systemClock, ...limits });
    const bar = new ProgressBar("Pulling costs");
    try {
      const onDays = (done: number, total: number) => bar.show(done, total);
      const pulled = (await puller.pull(accounts, plan, { onDays })).map(pullRecord);
      print(pulled, options, () => tableOf(pulled.map(({ cost, ...record }) => rowOf(record, { cost, currency }))));
      if (pulled.some(({ error }) => error !== "")) process.exitCode = 1;
    } finally {
      await puller.stop();
    }
  });
}

function rowOf(
  { error, ...record }: Omit<ReturnType<typeof pullRecord>, "cost">,
  { cost, currency }: { cost: number; currency: string },
): Record<string, unknown> {
  return { ...record, [`cost (${currency})`]: cost, error };
}
