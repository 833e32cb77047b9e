import { type Command, InvalidArgumentError, Option } from "commander";
import { setShares, shownShares } from "../../admin/setting/shares.ts";
import type { ShareList, ShownShareRule } from "../../contract/setting/share.ts";
import { OPERATING_SYSTEMS } from "../../domain/user/operating-system.ts";
import { UsageError } from "../../errors.ts";
import { deskOf } from "../desk.ts";
import { parseInteger, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

type AppOptions = { app: number; json?: boolean };
type AddOptions = AppOptions & {
  share: number;
  os?: string;
  channel?: string;
  method?: string;
  virtual?: "yes" | "no";
  from?: string;
  to?: string;
  at?: number;
};

/** What is left of payments after the store's cut. */
export function shareCommands(program: Command): void {
  const share = program.command("share").description("Share rules: what is left of payments after the store's cut");

  withApp(
    share.command("list").description("List the rules of an app; the first one that fits a payment counts"),
  ).action((options: AppOptions) =>
    withDatabase(async (session) => {
      await findApp(session, options.app);
      tell(await shownShares(session.pool, session.vault, options.app), options);
    }),
  );

  withApp(share.command("add").description("Add a rule, behind the others unless --at says where"))
    .requiredOption("--share <share>", "what is left of a payment, such as 0.7", parseShare)
    .addOption(new Option("--os <system>", "operating system of the user").choices([...OPERATING_SYSTEMS, "unknown"]))
    .option("--channel <channel>", "channel of the user")
    .option("--method <method>", "the payment's $pay_method")
    .addOption(new Option("--virtual <yes>", "whether the payment's $is_virtual is set").choices(["yes", "no"]))
    .option("--from <day>", "first day of orders, such as 2026-11-01")
    .option("--to <day>", "last day of orders, included")
    .option("--at <number>", "its number in the list", parseInteger)
    .action((options: AddOptions) =>
      change(options, (rules) => rules.toSpliced(placeOf(options, rules), 0, ruleOf(options))),
    );

  withApp(share.command("remove").description("Remove a rule"))
    .argument("<number>", "its number in the list", parseInteger)
    .action((number: number, options: AppOptions) =>
      change(options, (rules) => {
        if (number < 1 || number > rules.length) throw new UsageError(`App ${options.app} has no rule ${number}.`);
        return rules.toSpliced(number - 1, 1);
      }),
    );
}

function withApp(command: Command): Command {
  return command.requiredOption("--app <app>", "app id", parseInteger).option("--json", "print JSON");
}

function change(options: AppOptions, changed: (rules: ShownShareRule[]) => readonly ShownShareRule[]): Promise<void> {
  return withDatabase(async (session) => {
    await findApp(session, options.app);
    const { rules } = await shownShares(session.pool, session.vault, options.app);
    const body = { app_id: options.app, rules: [...changed(rules)] };
    tell(await setShares(deskOf(session), body), options);
  });
}

function placeOf({ at }: AddOptions, rules: readonly ShownShareRule[]): number {
  return at === undefined ? rules.length : Math.min(Math.max(at - 1, 0), rules.length);
}

function ruleOf({
  share,
  os = "",
  channel = "",
  method = "",
  virtual,
  from = "",
  to = "",
}: AddOptions): ShownShareRule {
  const is_virtual = virtual === undefined ? null : virtual === "yes";
  return { os_platform: os, channel, pay_method: method, is_virtual, start_date: from, end_date: to, share };
}

function tell(shares: ShareList, options: AppOptions): void {
  const rows = shares.rules.map((rule, at) => ({ number: at + 1, ...rule, is_virtual: rule.is_virtual ?? "" }));
  print(shares, options, () => `${tableOf(rows)}\nWhere no rule fits: ${shares.pay_share}`);
}

function parseShare(text: string): number {
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new InvalidArgumentError("It must be a number from 0 to 1 such as 0.7.");
  return Number(text);
}
