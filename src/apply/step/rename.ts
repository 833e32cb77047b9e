import type pg from "pg";
import type { ColdEvents } from "../../db/cold-event.ts";
import { tellGone } from "../../db/gone-client.ts";
import { markLakeOfUser } from "../../db/lake-mark.ts";
import { loadUsers, renameUser, storeUsers } from "../../db/user-account.ts";
import { isClientId } from "../../domain/user/identity.ts";
import type { RenameEntry } from "../entry/decode.ts";
import type { BatchUsers } from "../facts/batch-users.ts";
import { renameCold } from "./cold.ts";
import { allKeysOf } from "./source.ts";

/** Gives a client another id. When another client already has that id, the rename changes nothing. */
export async function applyRename(
  tx: pg.PoolClient,
  users: BatchUsers,
  entry: RenameEntry,
  cold: ColdEvents | undefined,
): Promise<void> {
  if (users.isErased(entry)) return;
  const { appId, clientId } = entry.user;
  const { newClientId } = entry;
  const found = await loadUsers(
    tx,
    [...new Set([clientId, newClientId])].map((id) => ({ appId, clientId: id })),
  );
  const user = found.find((one) => one.clientId === clientId);
  if (!user || found.some((one) => one.clientId === newClientId) || !isClientId(newClientId)) return;
  await markLakeOfUser(tx, user, entry.head.at);
  await storeUsers(tx, [{ ...user, clientId: newClientId }]);
  await tellGone(tx, user);
  await renameCold(tx, cold, { user, newClientId, atMs: entry.head.at });
  await renameUser(tx, { appId, clientId, newClientId, renamedAtMs: entry.head.at, keys: allKeysOf(user) });
}
