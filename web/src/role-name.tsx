import type { HeldGrant, Role } from "../../src/contract/setting/session.ts";
import { useChosenApp } from "./chosen-app.tsx";
import { grantsFor, useGrants } from "./may.ts";
import { type Texts, useTexts } from "./texts.ts";

/** From the weakest to the strongest. */
export const ROLES = ["viewer", "analyst", "operator", "admin"] as const satisfies readonly Role[];

export const ROLE_NAMES: Texts<Record<Role, string>> = {
  en: { viewer: "Viewer", analyst: "Analyst", operator: "Operator", admin: "Admin" },
  zh: { viewer: "观察者", analyst: "分析师", operator: "运营", admin: "管理员" },
};

export function strongestRole(grants: readonly HeldGrant[]): Role | undefined {
  return ROLES.findLast((role) => grants.some((grant) => grant.role === role));
}

/** The role of the signed-in person for the chosen app. */
export function RoleName() {
  const names = useTexts(ROLE_NAMES);
  const grants = useGrants();
  const { app } = useChosenApp();
  const role = strongestRole(grantsFor(grants, app?.app_id));
  return role && <span className="soft small">{names[role]}</span>;
}
