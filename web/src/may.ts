import type { HeldGrant, Need } from "../../src/contract/setting/session.ts";
import { useChosenApp } from "./chosen-app.tsx";
import { useSession } from "./session.tsx";

/** The grants that count for an app; those for all apps count for each. Without an app: all grants. */
export function grantsFor(grants: readonly HeldGrant[], appId: number | undefined): readonly HeldGrant[] {
  return appId === undefined ? grants : grants.filter(({ app_id }) => app_id === null || app_id === appId);
}

/** The grants for all apps. */
export function grantsForAll(grants: readonly HeldGrant[]): readonly HeldGrant[] {
  return grants.filter(({ app_id }) => app_id === null);
}

export function allow(grants: readonly HeldGrant[], need: Need): boolean {
  return grants.some(({ may }) => may.includes(need));
}

/** What the signed-in person may do. */
export function useGrants(): readonly HeldGrant[] {
  return useSession().grants;
}

/** Whether the person may do something with the chosen app; without one, with any. The server decides again. */
export function useMay(need: Need): boolean {
  const grants = useGrants();
  const { app } = useChosenApp();
  return allow(grantsFor(grants, app?.app_id), need);
}
