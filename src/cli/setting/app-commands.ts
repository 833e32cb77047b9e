import { type Command, InvalidArgumentError, Option } from "commander";
import { type App, loadApps, withoutKeys } from "../../db/app.ts";
import { APP_SECRETS, type AppSecret } from "../../domain/access/app-secret.ts";
import { isTimeZone } from "../../domain/calendar.ts";
import { METADATA_MODES, type MetadataMode } from "../../domain/event/metadata.ts";
import { CURRENCY, isRate } from "../../domain/money.ts";
import { REFUND_DAYS, type RefundDay } from "../../domain/refund.ts";
import { deskOf } from "../desk.ts";
import { listOf, parseInteger, parseName, print, tableOf } from "../output.ts";
import { withDatabase } from "../session.ts";

type Json = { json?: boolean };

/** Loaded only by the commands that change something: `app list` is asked often, and needs none of it. */
const acts = () => import("../../admin/apps.ts");

export function appCommands(program: Command): void {
  const app = program.command("app").description("Apps and their tokens");

  app
    .command("create")
    .description("Create an app; prints its id and its keys")
    .requiredOption("--name <name>", "display name", parseName)
    .option("--time-zone <zone>", "time zone of its days", parseTimeZone, "Asia/Shanghai")
    .addOption(
      new Option("--metadata <mode>", "open accepts undeclared events, strict does not")
        .choices(METADATA_MODES)
        .default("open"),
    )
    .option("--json", "print JSON")
    .action((options: { name: string; timeZone: string; metadata: MetadataMode } & Json) =>
      withDatabase(async (session) => {
        const { name, timeZone: time_zone, metadata } = options;
        const made = await (await acts()).createApp(deskOf(session), { name, time_zone, metadata });
        print(withKeys(made), options, () => listOf(withKeys(made)));
      }, "first"),
    );

  app
    .command("list")
    .description("List all apps; --keys shows their secrets too")
    .option("--keys", "show app_key and aes_key")
    .option("--json", "print JSON")
    .action((options: { keys?: boolean } & Json) =>
      withDatabase(async (session) => {
        const rows = options.keys
          ? (await (await acts()).showKeys(deskOf(session), {})).map(withKeys)
          : (await loadApps(session.pool, session.vault)).map(shown);
        print(rows, options, () => tableOf(rows));
      }),
    );

  setCommand(app);

  app
    .command("rotate-token")
    .description("Give an app a new access token, or another secret; the old one stops working at once")
    .argument("<app>", "app id", parseInteger)
    .addOption(new Option("--which <secret>", "which secret").choices(APP_SECRETS).default("access_token"))
    .option("--json", "print JSON")
    .action((appId: number, options: { which: AppSecret } & Json) =>
      withDatabase(async (session) => {
        const secret = await (await acts()).rotateAppSecret(deskOf(session), { app_id: appId, which: options.which });
        print({ app_id: appId, [options.which]: secret }, options, () => secret);
      }),
    );
}

function setCommand(app: Command): void {
  app
    .command("set")
    .description("Change an app")
    .argument("<app>", "app id", parseInteger)
    .option("--name <name>", "display name", parseName)
    .option("--time-zone <zone>", "time zone of its days; only while it has no users", parseTimeZone)
    .addOption(new Option("--metadata <mode>", "open or strict").choices(METADATA_MODES))
    .addOption(
      new Option("--require-registration <on>", "refuse events of unregistered clients").choices(["on", "off"]),
    )
    .addOption(new Option("--enabled <on>", "off refuses every request with its token").choices(["on", "off"]))
    .option("--currency <code>", "currency of its amounts, e.g. CNY", parseCurrency)
    .option(
      "--pay-share <share>",
      "the app's share of a payment after the platform's fee where no share rule fits, e.g. 0.6; for roi_version 2",
      parseShare,
    )
    .addOption(
      new Option("--refunds-on <day>", "the day on which a refund lowers revenue: its order's or its own").choices(
        REFUND_DAYS,
      ),
    )
    .option(
      "--rate <code=number>",
      "value of one unit of a foreign currency in the app's own, e.g. USD=7.12",
      parseRate,
    )
    .option("--json", "print JSON")
    .action((appId: number, options: SetOptions) => setApp(appId, options));
}

type SetOptions = Json & {
  name?: string;
  timeZone?: string;
  metadata?: MetadataMode;
  requireRegistration?: "on" | "off";
  enabled?: "on" | "off";
  currency?: string;
  payShare?: number;
  refundsOn?: RefundDay;
  rate?: Record<string, string>;
};

function setApp(appId: number, options: SetOptions): Promise<void> {
  return withDatabase(async (session) => {
    const app = await (await acts()).editApp(deskOf(session), {
      app_id: appId,
      name: options.name,
      time_zone: options.timeZone,
      currency: options.currency,
      rates: options.rate,
      metadata: options.metadata,
      require_registration: isOn(options.requireRegistration),
      enabled: isOn(options.enabled),
      pay_share: options.payShare,
      refunds_on: options.refundsOn,
    });
    const changed = shown(app);
    print(changed, options, () => listOf(changed));
  });
}

function isOn(text: "on" | "off" | undefined): boolean | undefined {
  return text === undefined ? undefined : text === "on";
}

/** The app without the time of its creation, which is a raw number. */
function shown(app: App): Record<string, unknown> {
  const { created_at_ms: _, ...rest } = withoutKeys(app);
  return rest;
}

function withKeys(app: App): Record<string, unknown> {
  return { ...shown(app), app_key: app.appKey, aes_key: app.aesKey };
}

function parseTimeZone(text: string): string {
  if (!isTimeZone(text)) throw new InvalidArgumentError("It must be a time zone such as Asia/Shanghai.");
  return text;
}

function parseCurrency(text: string): string {
  if (!CURRENCY.test(text)) throw new InvalidArgumentError("It must be three capital letters such as CNY.");
  return text;
}

function parseShare(text: string): number {
  if (!/^(?:0(?:\.\d{1,4})?|1(?:\.0{1,4})?)$/.test(text)) {
    throw new InvalidArgumentError("It must be from 0 to 1, with up to 4 decimals.");
  }
  return Number(text);
}

function parseRate(text: string, rates: Record<string, string> = {}): Record<string, string> {
  const [currency = "", rate = ""] = text.split("=");
  if (!CURRENCY.test(currency) || !isRate(rate)) throw new InvalidArgumentError("It must look like USD=7.12.");
  return { ...rates, [currency]: rate };
}
