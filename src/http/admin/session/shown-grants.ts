import type { HeldGrant, ShownGrant } from "../../../contract/setting/session.ts";
import { type Grants, mayIn, NEEDS } from "../../../domain/access/role.ts";

export function shownGrants(grants: Grants): ShownGrant[] {
  return grants.map(({ appId, role }) => ({ app_id: appId, role }));
}

/** The roles with what each allows by itself. */
export function heldGrants(grants: Grants): HeldGrant[] {
  return grants.map((grant) => ({
    app_id: grant.appId,
    role: grant.role,
    may: NEEDS.filter((need) => mayIn([grant], need, grant.appId ?? 0)),
  }));
}
