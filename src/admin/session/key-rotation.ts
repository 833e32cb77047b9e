import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { Type } from "typebox";
import { countOtherProcesses } from "../../db/engine/database.ts";
import { changeKeyFingerprint, loadInstallation, lockInstallation } from "../../db/installation.ts";
import { resealAll } from "../../db/sealed.ts";
import { UsageError } from "../../errors.ts";
import { type KeyLocation, newKey, takeNextKey, vaultOfKey, writeNextKey } from "../../vault.ts";
import { act, type Desk } from "../desk.ts";

/** A process that was just stopped may still be closing its connections. */
const GOODBYE_TRIES = 25;
const GOODBYE_MS = 200;

/**
 * Replaces the key of an installation and reseals everything. At every instant the key that opens the database is on disk
 * or in the operator's hands:
 *
 *   next key on the disk ─▶ one transaction: all secrets, the fingerprint ─▶ next key takes the place of the old one
 *         crash: the old key opens all, the next one is of no use │ crash: the fingerprint tells that the next one counts
 *
 * With SECRET_KEY there is no file: the operator has both keys and sets the new one. Returns how many secrets there are.
 */
export async function rotateKey(
  desk: Desk,
  { location, key = newKey() }: { location: KeyLocation; key?: string | undefined },
): Promise<number> {
  const { vault: from } = desk;
  const to = vaultOfKey(key);
  if (to.fingerprint === from.fingerprint) throw new UsageError("The new key is the current one: choose another.");
  await requireAlone(desk.pool);
  if (location.secretKey === "") writeNextKey(location, key);
  const count = await act(desk, {
    action: "secret rotate",
    schema: Type.Object({}),
    body: {},
    run: async (tx) => {
      await lockInstallation(tx);
      const installation = await loadInstallation(tx);
      if (installation?.keyFingerprint !== from.fingerprint)
        throw new UsageError("Another process has replaced the key.");
      const resealed = await resealAll(tx, { from, to });
      await changeKeyFingerprint(tx, to.fingerprint);
      return resealed;
    },
  });
  if (location.secretKey === "") takeNextKey(location);
  return count;
}

/** Requires that no other process uses the database: with the old key it could no longer open anything. */
async function requireAlone(pool: pg.Pool): Promise<void> {
  let others = 0;
  for (let attempt = 0; attempt < GOODBYE_TRIES; attempt += 1) {
    others = await countOtherProcesses(pool);
    if (others === 0) return;
    await sleep(GOODBYE_MS);
  }
  throw new UsageError(
    `${others} connections to this database belong to running servers or commands: stop them first, on every machine.`,
  );
}
