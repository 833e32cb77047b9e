import { type Command, InvalidArgumentError, Option } from "commander";
import { declareAppEvents, declareAppProperties } from "../../admin/setting/metadata.ts";
import { loadEventMeta, loadPropertyMeta } from "../../db/metadata.ts";
import { OWN_NAME, PROPERTY_TYPES, type PropertyScope, type PropertyType } from "../../domain/event/metadata.ts";
import { deskOf } from "../desk.ts";
import { parseInteger, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

export function metadataCommands(program: Command): void {
  const metadata = program.command("metadata").description("Events and properties: observed, declared, disabled");

  metadata
    .command("list")
    .description("List everything that an app has sent or declared")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: { app: number; json?: boolean }) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const events = await loadEventMeta(session.pool, [appId]);
        const properties = await loadPropertyMeta(session.pool, [appId]);
        const rows = [
          ...events.map(({ name, state }) => ({ kind: "event", name, type: "", state })),
          ...properties.map(({ scope, name, type, state }) => ({ kind: `${scope} property`, name, type, state })),
        ];
        print(rows, options, () => tableOf(rows));
      }),
    );

  metadata
    .command("event")
    .description("Declare an event, or switch it off with --disable")
    .requiredOption("--app <app>", "app id", parseInteger)
    .argument("<name>", "event name", assertName)
    .option("--disable", "no longer store it")
    .option("--json", "print JSON")
    .action((name: string, options: { app: number; disable?: boolean; json?: boolean }) =>
      withDatabase(async (session) => {
        const state = options.disable ? "disabled" : "declared";
        await declareAppEvents(deskOf(session), { app_id: options.app, names: [name], state });
        print({ kind: "event", name, state }, options, () => `${name} ${state}`);
      }),
    );

  metadata
    .command("property")
    .description("Declare a property and its type")
    .requiredOption("--app <app>", "app id", parseInteger)
    .argument("<name>", "property name", assertName)
    .addOption(new Option("--type <type>", "type of its values").choices(PROPERTY_TYPES).makeOptionMandatory())
    .addOption(
      new Option("--of <scope>", "whether it belongs to events or users").choices(["event", "user"]).default("event"),
    )
    .option("--json", "print JSON")
    .action((name: string, options: { app: number; type: PropertyType; of: PropertyScope; json?: boolean }) =>
      withDatabase(async (session) => {
        const { of: scope, type } = options;
        await declareAppProperties(deskOf(session), { app_id: options.app, properties: [{ scope, name, type }] });
        print({ kind: `${scope} property`, name, type, state: "declared" }, options, () => `${name} ${type} declared`);
      }),
    );
}

function assertName(name: string): string {
  if (!OWN_NAME.test(name))
    throw new InvalidArgumentError("It must be a name of letters, digits and _, at most 50 characters.");
  return name;
}
