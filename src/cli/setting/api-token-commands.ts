import { type Command, InvalidArgumentError, Option } from "commander";
import { endApiToken, makeApiToken, stateOfToken } from "../../admin/session/api-tokens.ts";
import { systemClock } from "../../clock.ts";
import { findAdminUser } from "../../db/admin-user.ts";
import { loadApiTokens, type OwnedToken } from "../../db/api-token.ts";
import { ROLES, type Role } from "../../domain/access/role.ts";
import { UsageError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { deskOf } from "../desk.ts";
import { listOf, print, tableOf } from "../output.ts";
import { type DatabaseSession, withDatabase } from "../session.ts";

type Json = { json?: boolean };
type Made = Json & { role: Role; apps: "all" | number[]; days: number; owner?: string };

/** Tokens for programs. One that has no owner is bound by nobody's role. */
export function apiTokenCommands(tokens: Command): void {
  tokens
    .command("list")
    .description("List all tokens: those that can be used first, then the newest")
    .option("--json", "print JSON")
    .action((options: Json) =>
      withDatabase(async ({ pool }) => {
        const rows = await shownTokens(pool);
        print(rows, options, () => tableOf(rows));
      }),
    );

  tokens
    .command("create <name>")
    .description("Make a token and print it, once; it goes into the header Authorization: Bearer <token>")
    .addOption(new Option("--role <role>", "what it may do").choices([...ROLES]).makeOptionMandatory())
    .addOption(new Option("--apps <ids>", "all, or ids as in 1,2").argParser(readApps).makeOptionMandatory())
    .addOption(new Option("--days <days>", "days until it ends").argParser(readDays).default(90))
    .option("--owner <name>", "a person: the token may never do more than they may")
    .option("--json", "print JSON")
    .action((name: string, { role, apps, days, owner, ...options }: Made) =>
      withDatabase(async (session) => {
        const desk = { ...deskOf(session), owner: await ownerOf(session, owner) };
        const { token, made } = await makeApiToken(desk, { name, role, apps, days });
        const row = { ...shown(made), token };
        print(row, options, () => listOf(row));
      }),
    );

  tokens
    .command("revoke <id>")
    .description("Revoke a token at once")
    .option("--json", "print JSON")
    .action((id: string, options: Json) =>
      withDatabase(async (session) => {
        await endApiToken({ ...deskOf(session), owner: undefined, mayRevokeAll: true }, { id: Number(id) });
        const rows = await shownTokens(session.pool);
        print(rows, options, () => tableOf(rows));
      }),
    );
}

async function ownerOf({ pool }: DatabaseSession, name: string | undefined) {
  if (name === undefined) return undefined;
  const user = await findAdminUser(pool, name);
  if (!user) throw new UsageError(`There is no person named ${JSON.stringify(name)}.`);
  return user;
}

async function shownTokens(pool: DatabaseSession["pool"]) {
  const listed = { nowMs: systemClock(), limit: LIMITS.apiTokensListed };
  return (await loadApiTokens(pool, "all", listed)).map(shown);
}

function shown(token: OwnedToken) {
  return {
    id: token.tokenId,
    name: token.name,
    prefix: token.prefix,
    owner: token.owner ?? "",
    role: token.role,
    apps: token.appIds?.join(",") ?? "all",
    state: stateOfToken(token, systemClock()),
    ends_at: token.endsAtMs,
    used_at: token.usedAtMs,
  };
}

function readApps(text: string): "all" | number[] {
  if (text === "all") return "all";
  if (/^\d{1,10}(,\d{1,10})*$/.test(text)) return text.split(",").map(Number);
  throw new InvalidArgumentError("Either all, or ids as in 1,2.");
}

function readDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= LIMITS.apiTokenDays) return days;
  throw new InvalidArgumentError(`From 1 to ${LIMITS.apiTokenDays}.`);
}
