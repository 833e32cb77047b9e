import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type Command, InvalidArgumentError } from "commander";
import type { Config } from "../../config.ts";
import { loadAppRules } from "../../db/app.ts";
import { embeddedConnection, type LocalConnection, withSuperuser } from "../../db/engine/embedded-role.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { readAddress } from "../../db/server/address.ts";
import { dropViewRole, prepareViewRole, type ViewRole } from "../../db/view-role.ts";
import { UsageError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { assertViewsWork, createViews, dropViews, VIEWS } from "../../report/view/views.ts";
import { listOf, parseInteger, print } from "../output.ts";
import { readSecretOption } from "../secret-option.ts";
import { type DatabaseSession, withDatabase } from "../session.ts";

type Options = {
  role: string;
  app?: number;
  password?: string;
  connections: number;
  timeout: number;
  drop?: boolean;
  json?: boolean;
};

const DEFAULTS = { role: "touchpoint_bi", connections: 10, timeoutS: 60 };

export function viewCommands(database: Command): void {
  database
    .command("views")
    .description("Make read-only views for Metabase, Grafana or Superset, and a role that sees only them (docs/BI.md)")
    .option("--role <name>", "the role, and the schema of its views", parseRole, DEFAULTS.role)
    .option("--app <app>", "only rows of this app", parseInteger)
    .option(
      "--password <from>",
      "the role's password: @file, or - for standard input; asked for on a terminal",
      parseFrom,
    )
    .option("--connections <count>", "connections that the role may have at once", parseCount, DEFAULTS.connections)
    .option("--timeout <seconds>", "time that a query of the role may take", parseCount, DEFAULTS.timeoutS)
    .option("--drop", "take the views and the role away again")
    .option("--json", "print JSON")
    .action((options: Options) =>
      withDatabase((session) => (options.drop ? drop(session, options) : make(session, options))),
    );
}

async function make(session: DatabaseSession, options: Options): Promise<void> {
  const { pool, config } = session;
  const { role, app, connections, timeout } = options;
  if (app !== undefined && (await loadAppRules(pool, [app])).length === 0)
    throw new UsageError(`There is no app ${app}.`);
  await assertViewsWork(pool);
  const password = await passwordOf(options);
  const wanted: ViewRole = { role, password, connectionsMax: connections, statementMs: timeout * 1_000 };
  const state = await asAdmin(session, (admin) => prepareViewRole(admin, wanted));
  await createViews(pool, { role, appId: app });
  const place = placeOf(config);
  const result = { role, schema: role, app_id: app ?? null, views: VIEWS.map(({ name }) => name), state, ...place };
  print(result, options, () => listOf({ ...result, app_id: app ?? "(all)", views: result.views.join(", ") }));
}

async function drop(session: DatabaseSession, options: Options): Promise<void> {
  const { role } = options;
  if (!(await dropViews(session.pool, role))) throw new UsageError(`There are no views for the role ${role}.`);
  const state = await asAdmin(session, (admin) => dropViewRole(admin, role));
  print({ dropped: role, role: state }, options, () =>
    state === "dropped"
      ? `The views and the role ${role} are gone.`
      : `The views are gone. The role ${role} stays, without any right to them: the user of the database may not drop it.`,
  );
}

/** The server of an embedded database cannot create roles; its superuser can. */
function asAdmin<T>({ config, pool }: DatabaseSession, work: (admin: Executor) => Promise<T>): Promise<T> {
  return config.databaseUrl === "" ? withSuperuser(config.dataDir, work) : work(pool);
}

/** Where programs find the database. */
function placeOf({ databaseUrl, dataDir }: Config): { host: string; port: number; database: string } {
  if (databaseUrl === "") {
    const { host, port, database } = embeddedConnection(dataDir) as LocalConnection;
    return { host, port, database };
  }
  const { hosts, database } = readAddress(databaseUrl);
  return { ...hosts[0]!, database: database ?? "" };
}

/** Undefined: the role keeps the password that it has. */
async function passwordOf({ password }: Options): Promise<string | undefined> {
  const given =
    password === undefined ? await askFor("Password of the role (empty: keep it): ") : readSecretOption(password);
  if (given === undefined || given === "") return undefined;
  // Other characters would have to be normalised in the same way by every program that signs in.
  if (!/^[!-~]+$/.test(given) || given.length < LIMITS.passphraseLengthMin)
    throw new UsageError(
      `The password must have at least ${LIMITS.passphraseLengthMin} letters, digits and signs of ASCII.`,
    );
  return given;
}

/** Asks a person on a terminal, without showing the answer. */
async function askFor(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  process.stderr.write(question);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: hidden, terminal: true });
  try {
    return await terminal.question("");
  } finally {
    terminal.close();
    process.stderr.write("\n");
  }
}

/** Also the name of a schema, so it must need no quotes. */
function parseRole(text: string): string {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(text) || /^(?:pg_|public$|touchpoint$|touchpoint_server$)/.test(text))
    throw new InvalidArgumentError("It must begin with a letter and have lower-case letters, digits and _ only.");
  return text;
}

/** Other users can see a command line. */
function parseFrom(text: string): string {
  if (text !== "-" && !text.startsWith("@"))
    throw new InvalidArgumentError("It must be @file, or - for standard input.");
  return text;
}

function parseCount(text: string): number {
  const count = parseInteger(text);
  if (count < 1 || count > 3_600) throw new InvalidArgumentError("It must be a whole number from 1 to 3600.");
  return count;
}
