import { roleAnywhere, roleIn } from "../../src/domain/access/role.ts";
import { useChosenApp } from "./chosen-app.tsx";
import { useGrants } from "./may.ts";
import { type Texts, useTexts } from "./texts.ts";

type RoleNames = { viewer: string; analyst: string; operator: string; admin: string };

export const ROLE_NAMES: Texts<RoleNames> = {
  en: { viewer: "Viewer", analyst: "Analyst", operator: "Operator", admin: "Admin" },
  zh: { viewer: "观察者", analyst: "分析师", operator: "运营", admin: "管理员" },
};

/** The role of the signed-in person for the chosen app. */
export function Role() {
  const names = useTexts(ROLE_NAMES);
  const grants = useGrants();
  const { app } = useChosenApp();
  const role = app ? roleIn(grants, app.app_id) : roleAnywhere(grants);
  return role && <span className="soft small">{names[role]}</span>;
}
