import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { checkConnector, dropConnector, listConnectors, setConnector } from "../../admin/setting/connectors.ts";
import type { ConnectorCheck } from "../../contract/setting/connector.ts";
import { isObject, type JsonObject } from "../../domain/json.ts";
import { messageOf, UsageError } from "../../errors.ts";
import { PLACEHOLDERS } from "../../platform/declared/placeholder.ts";
import { deskOf } from "../desk.ts";
import { parseInteger, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

type Json = { json?: boolean };
type KeyOptions = { app: number; platform: string } & Json;
type CheckOptions = KeyOptions & { client?: string; status?: number; answer?: string };

/** Connectors that apps declare for platforms that have none in the program. */
export function connectorCommands(program: Command): void {
  const connector = program
    .command("connector")
    .description("How platforms without a connector of their own take postbacks, declared as JSON");

  connector
    .command("placeholders")
    .description("List what the texts of a declaration may hold, as {name}")
    .option("--json", "print JSON")
    .action((options: Json) => {
      const rows = PLACEHOLDERS.map(({ name, hint }) => ({ placeholder: `{${name}}`, hint }));
      print(rows, options, () => tableOf(rows));
    });

  connector
    .command("list")
    .description("List the connectors that an app has declared")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON, with the declarations")
    .action((options: { app: number } & Json) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const rows = await listConnectors(session.pool, session.vault, app);
        print(rows, options, () => tableOf(rows.map(({ declaration, ...row }) => ({ ...row, url: declaration.url }))));
      }),
    );

  checkCommand(connector);

  withKey(connector.command("set").description("Declare how a platform takes postbacks, or replace the declaration"))
    .argument("<file>", "the declaration; - for standard input")
    .action((path: string, options: KeyOptions) =>
      withDatabase(async (session) => {
        const desk = { ...deskOf(session), mayCallPrivate: session.config.platformPrivateNetworks };
        const set = await setConnector(desk, { ...keyOf(options), declaration: declarationIn(path) });
        print(set, options, () => `The connector for ${set.ad_platform} is set; add an account with it.`);
      }),
    );

  withKey(connector.command("remove").description("Remove a connector; its accounts must be removed first")).action(
    (options: KeyOptions) =>
      withDatabase(async (session) => {
        await dropConnector(deskOf(session), keyOf(options));
        print({}, options, () => "The connector was removed.");
      }),
  );
}

function checkCommand(connector: Command): void {
  withKey(
    connector
      .command("check")
      .description("Check a declaration and show its calls with made-up values; nothing is stored or sent"),
  )
    .argument("<file>", "the declaration; - for standard input")
    .option("--client <client>", "a user whom the platform brought: the calls are about this user")
    .option("--answer <text>", "an answer of the platform, to see how it is read")
    .option("--status <n>", "its HTTP status (200)", parseInteger)
    .action((path: string, options: CheckOptions) =>
      withDatabase(async (session) => {
        const desk = { ...deskOf(session), mayCallPrivate: session.config.platformPrivateNetworks };
        const { client: client_id, answer: text, status = 200 } = options;
        const answer = text === undefined ? undefined : { status, body: text };
        const declaration = declarationIn(path);
        const check = await checkConnector(desk, { ...keyOf(options), declaration, client_id, answer });
        print(check, options, () => tellCheck(check));
      }),
    );
}

function withKey(command: Command): Command {
  return command
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--platform <name>", "ad platform")
    .option("--json", "print JSON");
}

function keyOf({ app: app_id, platform: ad_platform }: KeyOptions) {
  return { app_id, ad_platform };
}

function declarationIn(path: string): JsonObject {
  let declaration: unknown;
  try {
    declaration = JSON.parse(readFileSync(path === "-" ? 0 : path, "utf8"));
  } catch (error) {
    throw new UsageError(`The declaration cannot be read: ${messageOf(error)}.`);
  }
  if (!isObject(declaration)) throw new UsageError("The declaration must be a JSON object.");
  return declaration;
}

function tellCheck({ calls, tells_money, verdict }: ConnectorCheck): string {
  return [
    ...calls.flatMap(({ event_type, code, request, reason }) => [
      `${event_type} (${code})`,
      ...(request ? linesOf(request) : [`  Nothing would be sent: ${reason}`]),
      "",
    ]),
    tells_money ? "Amounts are told." : "No amounts are told.",
    ...(verdict ? [`The answer means: ${verdict.kind}. ${verdict.reason}`.trimEnd()] : []),
  ].join("\n");
}

function linesOf({ method, url, headers, body }: NonNullable<ConnectorCheck["calls"][number]["request"]>): string[] {
  return [
    `  ${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    ...(body === "" ? [] : [`  ${body}`]),
  ];
}
