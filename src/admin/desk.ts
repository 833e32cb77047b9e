import type pg from "pg";
import type { Static, TSchema } from "typebox";
import type { Clock } from "../clock.ts";
import { messageOfInvalid } from "../contract/validation.ts";
import { addAudit } from "../db/audit-log.ts";
import { inTransaction } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import { ApiError } from "../errors.ts";
import type { Vault } from "../vault.ts";
import { auditDetails, auditedApp } from "./audit-details.ts";

/** Who acts, as the audit log names them: a person, the admin token, the command line's user, or the first start. */
export type By = { name: string; address: string };

/** What an act works with. */
export type Desk = { pool: pg.Pool; vault: Vault; clock: Clock; by: By };

export type Act<Body extends TSchema, Done> = {
  /** As the audit log names it: the path of the admin interface. */
  action: string;
  schema: Body;
  body: Static<Body>;
  /** Of something that is made: its app. Otherwise the log takes the app that the body names. */
  appOf?: (done: Done) => number;
  run: (tx: Executor) => Promise<Done>;
};

/**
 * Something that a person may do, from wherever they do it: checked, done and noted in the audit log in one transaction.
 * What is refused, or fails, leaves neither a change nor a note.
 */
export async function act<Body extends TSchema, Done>(
  { pool, clock, by }: Desk,
  { action, schema, body, appOf, run }: Act<Body, Done>,
): Promise<Done> {
  const invalid = messageOfInvalid(schema, body);
  if (invalid !== undefined) throw new ApiError("badParameter", invalid);
  return inTransaction(pool, async (tx) => {
    const done = await run(tx);
    await addAudit(tx, {
      atMs: clock(),
      actor: by.name,
      address: by.address,
      action,
      appId: appOf ? appOf(done) : auditedApp(body as object),
      details: auditDetails(body as object),
    });
    return done;
  });
}

/** People see a name, so it must have something to be seen. */
export function assertName(name: string): void {
  if (name.trim() === "") throw new ApiError("badParameter", "name is empty.");
}
