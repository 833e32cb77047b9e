import type { Vault } from "../vault.ts";
import { digestOf, newSecret } from "./admin-user.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { sealFor } from "./sealed.ts";

/** An authorisation that a person has begun at a platform, and whose accounts they have not chosen yet. */
export type Authorisation<Secrets> = {
  authorisationId: number;
  appId: number;
  adPlatform: string;
  redirectUrl: string;
  secrets: Secrets;
};

/** How long a person may take at the platform, and then to choose accounts. */
export const AUTHORISATION_LIFE_MS = { begun: 15 * 60_000, returned: 30 * 60_000 };

type Begun = { appId: number; adPlatform: string; redirectUrl: string; session: string; nowMs: number };

/** Returns the state, which only the person's browser and the platform get to see. */
export async function beginAuthorisation(
  executor: Executor,
  vault: Vault,
  { appId, adPlatform, redirectUrl, session, nowMs }: Begun,
  secrets: object,
): Promise<string> {
  const state = newSecret();
  const sealed = await sealFor(executor, vault, JSON.stringify(secrets));
  await execute(
    executor,
    sql`insert into authorisation (state_digest, session_digest, app_id, ad_platform, redirect_url, secrets_sealed, begun_at_ms)
      values (${digestOf(state)}, ${digestOf(session)}, ${appId}, ${adPlatform}, ${redirectUrl}, ${sealed}, ${nowMs})`,
  );
  return state;
}

/** Deletes authorisations that have come to their end. */
export async function dropOldAuthorisations(executor: Executor, nowMs: number): Promise<void> {
  const { begun, returned } = AUTHORISATION_LIFE_MS;
  await execute(
    executor,
    sql`delete from authorisation where begun_at_ms <= ${nowMs - begun - returned} or returned_at_ms <= ${nowMs - returned}
      or (returned_at_ms is null and begun_at_ms <= ${nowMs - begun})`,
  );
}

/**
 * Deletes all but `kept` open authorisations of the person at a session, whichever session has begun them: first those
 * that have not returned from the platform, the oldest before the others.
 */
export async function dropSurplusAuthorisations(
  executor: Executor,
  { session, kept }: { session: string; kept: number },
): Promise<void> {
  const digest = digestOf(session);
  const theirs = sql`select s.token_digest from console_session own join console_session s on s.user_id = own.user_id
    where own.token_digest = ${digest}`;
  await execute(
    executor,
    sql`delete from authorisation where authorisation_id in
      (select authorisation_id from authorisation where session_digest = ${digest} or session_digest in (${theirs})
        order by returned_at_ms is null, authorisation_id desc offset ${kept})`,
  );
}

/** Uses up a state. Undefined when it was used before, is too old, or was given to another session. */
export async function takeState<Secrets>(
  executor: Executor,
  vault: Vault,
  { state, session, nowMs }: { state: string; session: string; nowMs: number },
): Promise<Authorisation<Secrets> | undefined> {
  const [row] = await query<Row>(
    executor,
    sql`update authorisation set returned_at_ms = ${nowMs}
      where state_digest = ${digestOf(state)} and session_digest = ${digestOf(session)} and returned_at_ms is null
        and begun_at_ms > ${nowMs - AUTHORISATION_LIFE_MS.begun} returning ${columns}`,
  );
  return row && opened<Secrets>(row, vault);
}

/** The authorisation of this session, locked, after the return from the platform. */
export async function lockReturned<Secrets>(
  executor: Executor,
  vault: Vault,
  { authorisationId, session, nowMs }: { authorisationId: number; session: string; nowMs: number },
): Promise<Authorisation<Secrets> | undefined> {
  const [row] = await query<Row>(
    executor,
    sql`select ${columns} from authorisation where authorisation_id = ${authorisationId}
        and session_digest = ${digestOf(session)} and returned_at_ms > ${nowMs - AUTHORISATION_LIFE_MS.returned} for update`,
  );
  return row && opened<Secrets>(row, vault);
}

export async function keepSecrets(
  executor: Executor,
  vault: Vault,
  { authorisationId, secrets }: { authorisationId: number; secrets: object },
): Promise<void> {
  const sealed = await sealFor(executor, vault, JSON.stringify(secrets));
  await execute(
    executor,
    sql`update authorisation set secrets_sealed = ${sealed} where authorisation_id = ${authorisationId}`,
  );
}

export async function dropAuthorisation(executor: Executor, authorisationId: number): Promise<void> {
  await execute(executor, sql`delete from authorisation where authorisation_id = ${authorisationId}`);
}

type Row = Omit<Authorisation<never>, "secrets"> & { secretsSealed: string };

const columns = sql`authorisation_id, app_id, ad_platform, redirect_url, secrets_sealed`;

function opened<Secrets>({ secretsSealed, ...row }: Row, vault: Vault): Authorisation<Secrets> {
  return { ...row, secrets: JSON.parse(vault.open(secretsSealed)) as Secrets };
}
