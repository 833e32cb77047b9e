import { hostname, userInfo } from "node:os";
import { systemClock } from "../clock.ts";
import { addAudit } from "../db/audit-log.ts";
import type { Executor } from "../db/engine/sql.ts";
import type { JsonObject } from "../domain/json.ts";

/** Notes in the audit log that a command showed a secret or exported data. Before it does: nothing is shown unnoted. */
export async function noteCommand(
  { pool }: { pool: Executor },
  command: string,
  about: { appId?: number; details?: JsonObject } = {},
): Promise<void> {
  await addAudit(pool, {
    atMs: systemClock(),
    actor: `command line (${systemUser()})`,
    address: hostname(),
    action: command,
    appId: about.appId ?? null,
    details: about.details ?? {},
  });
}

/** In a container the user often has a number only. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
