import { type Command, InvalidArgumentError, Option } from "commander";
import { systemClock } from "../../clock.ts";
import { UsageError } from "../../errors.ts";
import {
  dropAccount,
  listAccountFields,
  listAccounts,
  type ShownAccount,
  setAccount,
} from "../../outbound/accounts.ts";
import { listOf, parseInteger, print, tableOf } from "../output.ts";
import { readSecretOption } from "../secret-option.ts";
import { findApp, withDatabase } from "../session.ts";

type Json = { json?: boolean };
type KeyOptions = { app: number; platform: string; advertiser?: string } & Json;
type Values = Record<string, string>;
type SetOptions = KeyOptions & { set?: Values; secret?: Values; postbacks?: string; costs?: string; rate?: string };

/** Accounts at ad platforms, by which postbacks are sent and costs are pulled. */
export function accountCommands(program: Command): void {
  const account = program
    .command("account")
    .description("Accounts at ad platforms, by which postbacks are sent and costs are pulled");

  account
    .command("fields")
    .description("What an account at a platform can be told")
    .requiredOption("--platform <name>", "ad platform")
    .option("--json", "print JSON")
    .action((options: { platform: string } & Json) => {
      const fields = listAccountFields(options.platform);
      print(fields, options, () => tableOf(fields.map((field) => ({ ...field, secret: field.secret ? "yes" : "" }))));
    });

  account
    .command("list")
    .description("The accounts of an app; of secrets only which are set")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: { app: number } & Json) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const rows = await listAccounts(session.pool, session.vault, app);
        print(rows, options, () => tableOf(rows.map(shownOf)));
      }),
    );

  setCommand(account);

  withKey(account.command("remove").description("Remove an account; what still waits for it is given up")).action(
    (options: KeyOptions) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const removed = await dropAccount({ pool: session.pool, nowMs: systemClock() }, appId, keyOf(options));
        print(removed, options, () => `The account was removed; ${removed.given_up} postbacks were given up.`);
      }),
  );
}

function setCommand(account: Command): void {
  withKey(
    account.command("set").description("Make an account, or change what is named; `account fields` lists the names"),
  )
    .option("--set <name=value>", "a setting; an empty value takes it away; may be repeated", parsePair)
    .option(
      "--secret <name=value>",
      "a secret: name=value, name=@file or name=- (standard input); may be repeated",
      parsePair,
    )
    .addOption(new Option("--postbacks <switch>", "whether postbacks are sent by it").choices(["on", "off"]))
    .addOption(new Option("--costs <switch>", "whether costs are pulled by it").choices(["on", "off"]))
    .option("--rate <n>", "calls a second at most; 0: no limit")
    .action((options: SetOptions) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const { postbacks, costs, rate } = options;
        const given = { settings: options.set, secrets: secretsOf(options.secret ?? {}), postbacks, costs, rate };
        const { pool, vault, config } = session;
        const deps = { pool, vault, nowMs: systemClock(), mayCallPrivate: config.platformPrivateNetworks };
        const set = await setAccount(deps, app, { ...keyOf(options), ...given });
        print(set, options, () => listOf(shownOf(set)));
      }),
    );
}

function withKey(command: Command): Command {
  return command
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--platform <name>", "ad platform")
    .option("--advertiser <id>", "the advertiser; without it every one that has no account of its own")
    .option("--json", "print JSON");
}

function keyOf({ platform, advertiser }: KeyOptions) {
  return { adPlatform: platform, advertiserId: advertiser };
}

function parsePair(text: string, known: Values = {}): Values {
  const [, name, value] = /^([A-Za-z][A-Za-z0-9_]*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("It must look like name=value.");
  return { ...known, [name]: value };
}

function secretsOf(given: Values): Values {
  if (Object.values(given).filter((text) => text === "-").length > 1) {
    throw new UsageError("Only one secret can come by standard input.");
  }
  return Object.fromEntries(Object.entries(given).map(([name, text]) => [name, readSecretOption(text)]));
}

function shownOf(account: ShownAccount): Record<string, unknown> {
  const settings = Object.entries(account.settings).map(([name, value]) => `${name}=${value}`);
  return { ...account, settings: settings.join(" "), secrets: account.secrets.join(" ") };
}
