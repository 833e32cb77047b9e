import type { Static } from "typebox";
import { eraseBody } from "../../contract/admin/admin.ts";
import { loadUsers } from "../../db/user-account.ts";
import { readClientId } from "../../domain/user/identity.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { ApiError } from "../../errors.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

/** Users of this process: those known to it before they are in the tables, and their erasure by its journal. */
export type Erasing<Erased> = { isKnown: (user: UserKey) => boolean; erase: (user: UserKey) => Promise<Erased> };

/**
 * Erases everything stored about a user. The note is committed before the erasure is written to the journal, which is no
 * part of a transaction: without room in the journal there may be a note too many, but never one too few.
 */
export async function eraseUser<Erased>(
  desk: Desk,
  body: Static<typeof eraseBody>,
  { isKnown, erase }: Erasing<Erased>,
): Promise<Erased> {
  const user = await act(desk, {
    action: "users/erase",
    schema: eraseBody,
    body,
    hides: ["client_id"],
    run: async (tx) => {
      await assertApps(tx, [body.app_id]);
      const key = { appId: body.app_id, clientId: readClientId(body.client_id) };
      if ((await loadUsers(tx, [key])).length === 0 && !isKnown(key))
        throw new ApiError("notRegistered", "There is no user with this client_id.");
      return key;
    },
  });
  return erase(user);
}
