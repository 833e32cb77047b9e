import { type Command, Option } from "commander";
import { dropCallback, listCallbacks, setCallback } from "../../admin/setting/callbacks.ts";
import { CALLBACK_KINDS, type CallbackKind } from "../../domain/postback/callback.ts";
import { deskOf } from "../desk.ts";
import { listOf, parseInteger, parseList, print, tableOf } from "../output.ts";
import { readSecretOption } from "../secret-option.ts";
import { findApp, withDatabase } from "../session.ts";

type AppOption = { app: number; json?: boolean };
type KindOption = AppOption & { kind: CallbackKind };

/** Callbacks to an app's own systems. */
export function callbackCommands(program: Command): void {
  const callback = program.command("callback").description("Callbacks to an app's own systems");
  const kind = () =>
    new Option("--kind <kind>", "attribution: where each user came from; event: events by name")
      .choices(CALLBACK_KINDS)
      .makeOptionMandatory();

  callback
    .command("list")
    .description("List the callbacks of an app, without their secrets")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: AppOption) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const rows = await listCallbacks(session.pool, session.vault, appId);
        print(rows, options, () => tableOf(rows.map((row) => ({ ...row, events: row.events.join(",") }))));
      }),
    );

  callback
    .command("set")
    .description("Create or change a callback; a generated secret is printed once")
    .requiredOption("--app <app>", "app id", parseInteger)
    .addOption(kind())
    .requiredOption("--url <url>", "address; for attribution it may contain macros such as __CLIENT_ID__")
    .option("--events <names>", "for event: which events, separated by commas", parseList)
    .option("--secret <secret>", "for event: signs the POST; the text itself, @file, or - for standard input")
    .option("--json", "print JSON")
    .action((options: KindOption & { url: string; events?: string[]; secret?: string }) =>
      withDatabase(async (session) => {
        const { app: app_id, kind, url, events } = options;
        const secret = options.secret === undefined ? undefined : readSecretOption(options.secret);
        const desk = { ...deskOf(session), mayCallPrivate: session.config.callbackPrivateNetworks };
        const set = await setCallback(desk, { app_id, kind, url, events, secret });
        print(set, options, () => listOf({ ...set, events: set.events.join(",") }));
      }),
    );

  callback
    .command("remove")
    .description("Remove a callback; its waiting calls are marked as failed")
    .requiredOption("--app <app>", "app id", parseInteger)
    .addOption(kind())
    .option("--json", "print JSON")
    .action((options: KindOption) =>
      withDatabase(async (session) => {
        const removed = await dropCallback(deskOf(session), { app_id: options.app, kind: options.kind });
        print(
          removed,
          options,
          () => `The callback was removed; ${removed.given_up} waiting calls were marked as failed.`,
        );
      }),
    );
}
