import { type Command, InvalidArgumentError } from "commander";
import { createDeveloper, decideDeveloper, editDeveloper } from "../../admin/setting/developers.ts";
import type { DeveloperDecisionBody } from "../../contract/setting/developer.ts";
import { DEFAULT_RATE, type DeveloperApp, loadDeveloperApps, type RateLevel } from "../../db/developer-app.ts";
import { deskOf } from "../desk.ts";
import { listOf, parseInteger, parseName, print, tableOf } from "../output.ts";
import { type DatabaseSession, withDatabase } from "../session.ts";

type Json = { json?: boolean };
type Apps = "all" | number[];

export function developerCommands(program: Command): void {
  const developer = program.command("developer").description("Developer applications, which pull reports");

  developer
    .command("create")
    .description("Request a developer application; with --approve its app_key is printed at once")
    .requiredOption("--name <name>", "display name", parseName)
    .requiredOption("--apps <apps>", "all, or app ids separated by commas", parseApps)
    .option("--purpose <text>", "what it is for", "")
    .option("--rate <calls/seconds>", "how often it may call", parseRate, DEFAULT_RATE)
    .option("--approve", "approve it at once")
    .option("--json", "print JSON")
    .action((options: CreateOptions) => withDatabase((session) => create(session, options), "first"));

  developer
    .command("list")
    .description("List all developer applications, without their keys")
    .option("--json", "print JSON")
    .action((options: Json) =>
      withDatabase(async ({ pool, vault }) => {
        const rows = (await loadDeveloperApps(pool, vault)).map(shown);
        print(rows, options, () => tableOf(rows));
      }),
    );

  developer
    .command("set")
    .description("Change which apps a developer application may read, and how often")
    .argument("<id>", "id of the developer application", parseInteger)
    .option("--apps <apps>", "all, or app ids separated by commas", parseApps)
    .option("--rate <calls/seconds>", "how often it may call", parseRate)
    .option("--json", "print JSON")
    .action((id: number, options: { apps?: Apps; rate?: RateLevel } & Json) =>
      withDatabase(async (session) => {
        const { apps, rate } = options;
        const body = { id, apps, rate_calls: rate?.calls, rate_window_s: rate?.windowS };
        const changed = shown(await editDeveloper(deskOf(session), body));
        print(changed, options, () => listOf(changed));
      }),
    );

  decideCommand(developer, {
    name: "approve",
    state: "approved",
    text: "Approve a developer application; prints its app_key",
  });
  decideCommand(developer, {
    name: "refuse",
    state: "refused",
    text: "Refuse a developer application; --reason says why",
  });
  decideCommand(developer, {
    name: "disable",
    state: "disabled",
    text: "Stop a developer application from pulling reports; --reason says why",
  });
}

type CreateOptions = { name: string; apps: Apps; purpose: string; rate: RateLevel; approve?: boolean } & Json;

async function create(session: DatabaseSession, options: CreateOptions): Promise<void> {
  const { name, purpose, apps, rate } = options;
  const desk = deskOf(session);
  const body = { name, purpose, apps, rate_calls: rate.calls, rate_window_s: rate.windowS };
  const made = await createDeveloper(desk, body);
  const decided = options.approve ? await decideDeveloper(desk, { id: made.developerId, state: "approved" }) : made;
  const told = withApprovedKey(decided);
  print(told, options, () => listOf(told));
}

type Decision = { name: string; state: DeveloperDecisionBody["state"]; text: string };

function decideCommand(developer: Command, decision: Decision): void {
  developer
    .command(decision.name)
    .description(decision.text)
    .argument("<id>", "id of the developer application", parseInteger)
    .option("--reason <text>", "why", "")
    .option("--json", "print JSON")
    .action((id: number, options: { reason: string } & Json) =>
      withDatabase(async (session) => {
        const body = { id, state: decision.state, reason: options.reason };
        const told = withApprovedKey(await decideDeveloper(deskOf(session), body));
        print(told, options, () => listOf(told));
      }),
    );
}

/** The application, with its key only when it is approved. */
function withApprovedKey({ developerId: id, state, appKey }: DeveloperApp): Record<string, unknown> {
  return { id, state, ...(state === "approved" && { app_key: appKey }) };
}

/** The application without its key; apps and rate as typed on the command line. */
function shown({ developerId: id, name, purpose, state, reason, ...rest }: DeveloperApp): Record<string, unknown> {
  const apps = rest.apps === "all" ? "all" : rest.apps.join(",");
  return { id, name, purpose, state, reason, apps, rate: `${rest.rate.calls}/${rest.rate.windowS}` };
}

function parseApps(text: string): Apps {
  if (text === "all") return "all";
  const ids = text.split(",").map((part) => part.trim());
  if (!ids.every((id) => /^\d{1,9}$/.test(id))) {
    throw new InvalidArgumentError("It must be all, or app ids such as 10000001,10000002.");
  }
  return [...new Set(ids.map(Number))];
}

function parseRate(text: string): RateLevel {
  const match = /^(\d{1,6})\/(\d{1,6})$/.exec(text);
  const [calls, windowS] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || calls < 1 || windowS < 1) throw new InvalidArgumentError("It must look like 1/600: calls per seconds.");
  return { calls, windowS };
}
