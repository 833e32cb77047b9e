import type { Vault } from "../vault.ts";
import { digestOf } from "./admin-user.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { sealFor } from "./sealed.ts";

/** The second factor of a person. It counts once the person has confirmed it with a code. */
export type SecondFactor = { secret: Buffer; confirmedAtMs: number | null; lastStep: number };

export async function loadSecondFactor(
  executor: Executor,
  vault: Vault,
  userId: number,
): Promise<SecondFactor | undefined> {
  const [row] = await query<{ secretSealed: string; confirmedAtMs: number | null; lastStep: number }>(
    executor,
    sql`select secret_sealed, confirmed_at_ms, last_step from totp where user_id = ${userId}`,
  );
  if (!row) return undefined;
  const { secretSealed, ...rest } = row;
  return { secret: Buffer.from(vault.open(secretSealed), "hex"), ...rest };
}

/** Begins anew with another secret, unless a confirmed one is in force: then it returns false. */
export async function beginSecondFactor(
  tx: Executor,
  vault: Vault,
  { userId, secret }: { userId: number; secret: Buffer },
): Promise<boolean> {
  const sealed = await sealFor(tx, vault, secret.toString("hex"));
  const changed = await execute(
    tx,
    sql`insert into totp (user_id, secret_sealed, confirmed_at_ms, last_step) values (${userId}, ${sealed}, null, 0)
      on conflict (user_id) do update set secret_sealed = excluded.secret_sealed, last_step = 0
        where totp.confirmed_at_ms is null`,
  );
  return changed > 0;
}

/** Uses up a step, so that its code and earlier ones count no more. Returns false when they were used before. */
export async function useStep(tx: Executor, { userId, step }: { userId: number; step: number }): Promise<boolean> {
  const changed = await execute(
    tx,
    sql`update totp set last_step = ${step} where user_id = ${userId} and last_step < ${step}`,
  );
  return changed > 0;
}

/** Puts the second factor in force, with these recovery codes instead of earlier ones. */
export async function confirmSecondFactor(
  tx: Executor,
  { userId, codes, nowMs }: { userId: number; codes: readonly string[]; nowMs: number },
): Promise<void> {
  await execute(tx, sql`update totp set confirmed_at_ms = ${nowMs} where user_id = ${userId}`);
  await execute(tx, sql`delete from recovery_code where user_id = ${userId}`);
  await execute(
    tx,
    sql`insert into recovery_code (user_id, code_digest) select ${userId}, given.code_digest
      from ${rowsOf("given", codes, { code_digest: ["text", digestOf] })}`,
  );
}

/** Uses up a recovery code. Returns false when there is none, or it was used before. */
export async function useRecoveryCode(
  tx: Executor,
  { userId, code, nowMs }: { userId: number; code: string; nowMs: number },
): Promise<boolean> {
  const changed = await execute(
    tx,
    sql`update recovery_code set used_at_ms = ${nowMs}
      where user_id = ${userId} and code_digest = ${digestOf(code)} and used_at_ms is null`,
  );
  return changed > 0;
}

export async function countRecoveryCodes(executor: Executor, userId: number): Promise<number> {
  const [row] = await query<{ count: number }>(
    executor,
    sql`select count(*) as count from recovery_code where user_id = ${userId} and used_at_ms is null`,
  );
  return row!.count;
}

/** Returns false when there was none. */
export async function dropSecondFactor(tx: Executor, userId: number): Promise<boolean> {
  await execute(tx, sql`delete from recovery_code where user_id = ${userId}`);
  return (await execute(tx, sql`delete from totp where user_id = ${userId}`)) > 0;
}
