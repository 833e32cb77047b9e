import { UsageError } from "../errors.ts";
import type { Vault } from "../vault.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** The database's record of its installation: the key that sealed its secrets, and the admin token that is valid. */
export type Installation = { keyFingerprint: string; adminTokenGeneration: number };

export async function loadInstallation(executor: Executor): Promise<Installation | undefined> {
  const [row] = await query<Installation>(
    executor,
    sql`select key_fingerprint, admin_token_generation from installation`,
  );
  return row;
}

/** Until the transaction ends, no other process can begin an installation, replace its key or seal anything. */
export async function lockInstallation(tx: Executor): Promise<void> {
  await tx.query("lock table installation in exclusive mode");
}

export async function beginInstallation(tx: Executor, keyFingerprint: string): Promise<void> {
  await execute(
    tx,
    sql`insert into installation (is_only, key_fingerprint, admin_token_generation) values (true, ${keyFingerprint}, 0)`,
  );
}

export async function changeKeyFingerprint(tx: Executor, keyFingerprint: string): Promise<void> {
  await execute(tx, sql`update installation set key_fingerprint = ${keyFingerprint}`);
}

/** From now on, postbacks of entries received before this time may have been sent already; see insertOutbox. */
export async function doubtPostbacksBefore(tx: Executor, atMs: number): Promise<void> {
  await execute(tx, sql`update installation set postbacks_unsure_before_ms = ${atMs}`);
}

/** Invalidates all admin tokens of earlier generations. */
export async function raiseAdminTokenGeneration(executor: Executor): Promise<number> {
  const [row] = await query<{ generation: number }>(
    executor,
    sql`update installation set admin_token_generation = admin_token_generation + 1
      returning admin_token_generation as generation`,
  );
  return row!.generation;
}

/** Secrets that the installation makes for itself. They stay the same when the key is replaced. */
export const INSTALLATION_SECRETS = ["user_token", "erasure"] as const;
export type InstallationSecret = (typeof INSTALLATION_SECRETS)[number];

export async function loadInstallationSecrets(
  executor: Executor,
  vault: Vault,
): Promise<Record<InstallationSecret, Buffer>> {
  const rows = await query<{ name: InstallationSecret; sealed: string }>(
    executor,
    sql`select name, secret_sealed as sealed from installation_secret`,
  );
  const secrets = new Map(rows.map(({ name, sealed }) => [name, Buffer.from(vault.open(sealed), "hex")]));
  const missing = INSTALLATION_SECRETS.filter((name) => !secrets.has(name));
  if (missing.length > 0) throw new UsageError(`The table installation_secret lacks ${missing.join(" and ")}.`);
  return { user_token: secrets.get("user_token")!, erasure: secrets.get("erasure")! };
}

export async function addInstallationSecret(
  tx: Executor,
  { name, sealed }: { name: InstallationSecret; sealed: string },
): Promise<void> {
  await execute(tx, sql`insert into installation_secret (name, secret_sealed) values (${name}, ${sealed})`);
}
