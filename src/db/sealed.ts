import { UsageError } from "../errors.ts";
import type { Vault } from "../vault.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, identifier, query, sql } from "./engine/sql.ts";

/** Every column that holds a sealed secret. `secret rotate` goes by this list; a test compares it with the tables. */
export const SEALED_COLUMNS = [
  { table: "app", column: "app_key_sealed" },
  { table: "app", column: "aes_key_sealed" },
  { table: "developer_app", column: "app_key_sealed" },
  { table: "platform_account", column: "secrets_sealed" },
  { table: "authorisation", column: "secrets_sealed" },
  { table: "platform_secret", column: "value_sealed" },
  { table: "media_token", column: "token_sealed" },
  { table: "callback", column: "secret_sealed" },
  { table: "totp", column: "secret_sealed" },
  { table: "installation_secret", column: "secret_sealed" },
] as const;

type Opener = Pick<Vault, "open">;
type SealedColumn = (typeof SEALED_COLUMNS)[number];

/**
 * Seals a secret for a table. All sealing goes through here, because a process that still runs with a replaced key must
 * not write what nobody can open.
 */
export async function sealFor(executor: Executor, vault: Vault, secret: string): Promise<string> {
  const [row] = await query<{ isOurs: boolean }>(
    executor,
    sql`select key_fingerprint = ${vault.fingerprint} as is_ours from installation for share`,
  );
  if (!row?.isOurs) {
    throw new UsageError(
      "The secrets of this database are sealed with a key that this process does not have: restart it with the current SECRET_KEY (or DATA_DIR/secret.key).",
    );
  }
  return vault.seal(secret);
}

/** Opens every sealed secret, to check the key. Returns their number. */
export async function openAll(tx: Executor, vault: Opener): Promise<number> {
  let count = 0;
  for (const column of SEALED_COLUMNS) {
    await forEachPage(tx, column, async (sealed) => {
      for (const one of sealed) openOf(column, vault, one);
      count += sealed.length;
    });
  }
  return count;
}

/** Reseals every secret. Nobody else can change them meanwhile; one that does not open fails the whole operation. */
export async function resealAll(tx: Executor, { from, to }: { from: Vault; to: Vault }): Promise<number> {
  let count = 0;
  for (const column of SEALED_COLUMNS) {
    const [table, name] = [identifier(column.table), identifier(column.column)];
    await execute(tx, sql`lock table ${table} in share row exclusive mode`);
    await forEachPage(tx, column, async (sealed) => {
      const fresh = rowsOf("fresh", sealed, {
        old: ["text", (one) => one],
        sealed: ["text", (one) => to.seal(openOf(column, from, one))],
      });
      count += await execute(
        tx,
        sql`update ${table} set ${name} = fresh.sealed from ${fresh} where ${table}.${name} = fresh.old`,
      );
    });
  }
  return count;
}

function openOf({ table, column }: SealedColumn, vault: Opener, sealed: string): string {
  try {
    return vault.open(sealed);
  } catch {
    throw new UsageError(`A secret in ${table}.${column} was sealed with another key.`);
  }
}

/** Pages through a column by a cursor, which sees the table as it was when opened, whatever each page changes. */
async function forEachPage(
  tx: Executor,
  { table, column }: SealedColumn,
  work: (sealed: string[]) => Promise<void>,
): Promise<void> {
  const [from, name] = [identifier(table), identifier(column)];
  await execute(tx, sql`declare sealed_secret no scroll cursor for select ${name} as sealed from ${from}`);
  for (;;) {
    const rows = await query<{ sealed: string }>(tx, sql`fetch 1000 from sealed_secret`);
    if (rows.length === 0) break;
    await work(rows.map(({ sealed }) => sealed));
  }
  await execute(tx, sql`close sealed_secret`);
}
