import type { ShownGrant } from "../../../contract/setting/session.ts";
import type { Grants } from "../../../domain/access/role.ts";

export function shownGrants(grants: Grants): ShownGrant[] {
  return grants.map(({ appId, role }) => ({ app_id: appId, role }));
}
