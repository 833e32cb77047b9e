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

/** The actor named in the audit log: a person, the admin token, the command line's user, or the first start. */
export type By = { name: string; address: string };

/** What an act works with. */
export type Desk = { pool: pg.Pool; vault: Vault; clock: Clock; by: By };

export type Act<Body extends TSchema, Done> = {
  /** The name in the audit log: the path of the admin interface. */
  action: string;
  schema: Body;
  body: Static<Body>;
  /** The app of a newly created thing. By default the log names the app in the body. */
  appOf?: (done: Done) => number;
  /** What the log keeps. By default the body. */
  noted?: (done: Done) => object;
  /** Fields that the log does not keep. */
  hides?: readonly string[];
  /** Whether the log names the act at all. By default it does. */
  isNoted?: (done: Done) => boolean;
  /** Who acted, where the act itself finds out: somebody who sets a password with a link. */
  actorOf?: (done: Done) => string;
  run: (tx: Executor) => Promise<Done>;
};

/**
 * Runs something that a person may do, from the console or the command line: checked, done and noted in the audit log
 * in one transaction. A refusal or failure leaves neither a change nor a note.
 */
export async function act<Body extends TSchema, Done>(
  { pool, clock, by }: Desk,
  asked: Act<Body, Done>,
): Promise<Done> {
  const { action, body, appOf, noted, hides, isNoted, actorOf } = asked;
  const invalid = messageOfInvalid(asked.schema, body);
  if (invalid !== undefined) throw new ApiError("badParameter", invalid);
  return inTransaction(pool, async (tx) => {
    const done = await asked.run(tx);
    if (isNoted && !isNoted(done)) return done;
    await addAudit(tx, {
      atMs: clock(),
      actor: actorOf ? actorOf(done) : by.name,
      address: by.address,
      action,
      appId: appOf ? appOf(done) : auditedApp(body as object),
      details: auditDetails(noted ? noted(done) : (body as object), hides),
    });
    return done;
  });
}

/** Refuses a name without visible characters. */
export function assertName(name: string): void {
  if (name.trim() === "") throw new ApiError("badParameter", "name is empty.");
}
