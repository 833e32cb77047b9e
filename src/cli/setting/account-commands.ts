import { type Command, InvalidArgumentError, Option } from "commander";
import { dropAccount, setAccount } from "../../admin/setting/accounts.ts";
import { UsageError } from "../../errors.ts";
import { listAccountFields, listAccounts, type ShownAccount } from "../../outbound/account-view.ts";
import { loadConnectors } from "../../outbound/connectors.ts";
import { deskOf } from "../desk.ts";
import { listOf, parseInteger, print, tableOf } from "../output.ts";
import { readSecretOption } from "../secret-option.ts";
import { findApp, withDatabase } from "../session.ts";

type Json = { json?: boolean };
type KeyOptions = { app: number; platform: string; advertiser?: string } & Json;
type Values = Record<string, string>;
type Switch = "on" | "off";
type SetOptions = KeyOptions & { set?: Values; secret?: Values; postbacks?: Switch; costs?: Switch; rate?: number };

/** Accounts at ad platforms, used to send postbacks and pull costs. */
export function accountCommands(program: Command): void {
  const account = program
    .command("account")
    .description("Accounts at ad platforms, used to send postbacks and pull costs");

  account
    .command("fields")
    .description("List the fields of an account at a platform")
    .requiredOption("--platform <name>", "ad platform")
    .option("--app <app>", "app id, for a platform whose connector the app has declared", parseInteger)
    .option("--json", "print JSON")
    .action(async (options: { platform: string; app?: number } & Json) => {
      const fields = await fieldsFor(options);
      print(fields, options, () => tableOf(fields.map((field) => ({ ...field, secret: field.secret ? "yes" : "" }))));
    });

  account
    .command("list")
    .description("List the accounts of an app; of secrets, only the names of those that are set")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: { app: number } & Json) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const rows = await listAccounts(session.pool, session.vault, app, deskOf(session).clock());
        print(rows, options, () => [tableOf(rows.map(shownOf)), ...rows.flatMap(warningOf)].join("\n"));
      }),
    );

  setCommand(account);

  withKey(
    account.command("remove").description("Remove an account; its waiting postbacks are marked as failed"),
  ).action((options: KeyOptions) =>
    withDatabase(async (session) => {
      const removed = await dropAccount(deskOf(session), keyOf(options));
      print(
        removed,
        options,
        () => `The account was removed; ${removed.given_up} waiting postbacks were marked as failed.`,
      );
    }),
  );
}

/** Only a declared connector needs the database. */
async function fieldsFor({ platform, app }: { platform: string; app?: number }) {
  if (app === undefined) return listAccountFields(platform);
  return withDatabase(async (session) => {
    const { appId } = await findApp(session, app);
    return listAccountFields(platform, await loadConnectors(session.pool, appId));
  });
}

function setCommand(account: Command): void {
  withKey(
    account.command("set").description("Create an account, or change the named fields; `account fields` lists them"),
  )
    .option("--set <name=value>", "a setting; an empty value removes it; may be repeated", parsePair)
    .option(
      "--secret <name=value>",
      "a secret: name=value, name=@file or name=- (standard input); may be repeated",
      parsePair,
    )
    .addOption(new Option("--postbacks <switch>", "whether postbacks are sent with it").choices(["on", "off"]))
    .addOption(new Option("--costs <switch>", "whether costs are pulled with it").choices(["on", "off"]))
    .option("--rate <n>", "most calls per second; 0: no limit", parseInteger)
    .action((options: SetOptions) =>
      withDatabase(async (session) => {
        const { set: settings, postbacks, costs, rate } = options;
        const secrets = options.secret && secretsOf(options.secret);
        const desk = { ...deskOf(session), mayCallPrivate: session.config.platformPrivateNetworks };
        const set = await setAccount(desk, { ...keyOf(options), settings, secrets, postbacks, costs, rate });
        print(set, options, () => listOf(shownOf(set)));
      }),
    );
}

function withKey(command: Command): Command {
  return command
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--platform <name>", "ad platform")
    .option("--advertiser <id>", "the advertiser; without it, every advertiser without an account of its own")
    .option("--json", "print JSON");
}

function keyOf({ app: app_id, platform: ad_platform, advertiser: advertiser_id }: KeyOptions) {
  return { app_id, ad_platform, advertiser_id };
}

function parsePair(text: string, known: Values = {}): Values {
  const [, name, value] = /^([A-Za-z][A-Za-z0-9_]*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("It must look like name=value.");
  return { ...known, [name]: value };
}

function secretsOf(given: Values): Values {
  if (Object.values(given).filter((text) => text === "-").length > 1) {
    throw new UsageError("Only one secret can be read from standard input.");
  }
  return Object.fromEntries(Object.entries(given).map(([name, text]) => [name, readSecretOption(text)]));
}

/** A sentence about an account that somebody has to authorise again. */
function warningOf({ ad_platform, advertiser_id, refresh_state, refresh_expires_at }: ShownAccount): string[] {
  if (refresh_state === "lasts") return [];
  const [account, verb] = [`${ad_platform} ${advertiser_id}`.trimEnd(), refresh_state === "ended" ? "ended" : "ends"];
  return [`The authorisation of ${account} ${verb} at ${refresh_expires_at}: connect it again in the console.`];
}

function shownOf(account: ShownAccount): Record<string, unknown> {
  const settings = Object.entries(account.settings).map(([name, value]) => `${name}=${value}`);
  return { ...account, settings: settings.join(" "), secrets: account.secrets.join(" ") };
}
