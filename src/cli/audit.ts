import { hostname, userInfo } from "node:os";
import type { By, Desk } from "../admin/desk.ts";
import { systemClock } from "../clock.ts";
import { addAudit } from "../db/audit-log.ts";
import type { Executor } from "../db/engine/sql.ts";
import type { JsonObject } from "../domain/json.ts";
import type { DatabaseSession } from "./session.ts";

/** What an act works with when a command asks for it. */
export function deskOf({ pool, vault }: DatabaseSession): Desk {
  return { pool, vault, clock: systemClock, by: commandLine() };
}

/** Notes in the audit log that a command showed a secret or exported data. Before it does: nothing is shown unnoted. */
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

/** In a container the user often has a number only. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
