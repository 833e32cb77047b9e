import { hostname, userInfo } from "node:os";
import type { By, Desk } from "../admin/desk.ts";
import { systemClock } from "../clock.ts";
import { addAudit } from "../db/audit-log.ts";
import type { Executor } from "../db/engine/sql.ts";
import type { JsonObject } from "../domain/json.ts";
import type { DatabaseSession } from "./session.ts";

/** What an act works with when a command runs it. */
export function deskOf({ pool, vault }: DatabaseSession): Desk {
  return { pool, vault, clock: systemClock, by: commandLine() };
}

/** Notes a command in the audit log before it shows a secret or exports data, so that nothing is shown unnoted. */
export async function noteCommand(
  { pool }: { pool: Executor },
  command: string,
  about: { appId?: number; details?: JsonObject } = {},
): Promise<void> {
  const { name: actor, address } = commandLine();
  await addAudit(pool, {
    atMs: systemClock(),
    actor,
    address,
    action: command,
    appId: about.appId ?? null,
    details: about.details ?? {},
  });
}

function commandLine(): By {
  return { name: `command line (${systemUser()})`, address: hostname() };
}

/** The user's name, or the number: in a container the user often has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
