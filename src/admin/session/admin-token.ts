import { Type } from "typebox";
import type { Executor } from "../../db/engine/sql.ts";
import { loadInstallation, raiseAdminTokenGeneration } from "../../db/installation.ts";
import type { Vault } from "../../vault.ts";
import { act, type Desk } from "../desk.ts";

/**
 * The token of the admin interface, made from the installation's key and a generation. Raising the generation revokes
 * every token handed out before. The token of generation 0 is the one that earlier versions printed.
 */
export function adminToken(vault: Vault, generation = 0): string {
  return vault.keyFor(generation === 0 ? "admin-token" : `admin-token ${generation}`).toString("hex");
}

/** The admin token of the current generation, for a command's own calls; `showAdminToken` notes that a person sees it. */
export async function currentAdminToken(executor: Executor, vault: Vault): Promise<string> {
  return adminToken(vault, (await loadInstallation(executor))?.adminTokenGeneration);
}

/** Only commands show the admin token: their names stand in the audit log. */
export function showAdminToken(desk: Desk): Promise<string> {
  return act(desk, {
    action: "admin token",
    schema: Type.Object({}),
    body: {},
    run: (tx) => currentAdminToken(tx, desk.vault),
  });
}

/** Revokes every admin token handed out so far, and shows a new one. */
export function renewAdminToken(desk: Desk): Promise<string> {
  return act(desk, {
    action: "admin token --new",
    schema: Type.Object({}),
    body: {},
    run: async (tx) => adminToken(desk.vault, await raiseAdminTokenGeneration(tx)),
  });
}
