import { COMMAND_HEADER, signedCommandName } from "../admin/command-name.ts";
import { currentAdminToken } from "../admin/session/admin-token.ts";
import { commandLine } from "./desk.ts";
import type { DatabaseSession } from "./session.ts";

/** Headers for calls of the admin interface, whose audit log then names who ran the command. */
export async function adminHeaders({ pool, vault }: DatabaseSession): Promise<Record<string, string>> {
  return {
    authorization: `Bearer ${await currentAdminToken(pool, vault)}`,
    [COMMAND_HEADER]: signedCommandName(vault, commandLine().name),
  };
}
