import { mayAnywhere, mayEverywhere, mayIn } from "../../src/domain/access/role.ts";
import { useChosenApp } from "./chosen-app.tsx";
import { useGrants } from "./may.ts";
import type { Page } from "./pages.tsx";

/** Tells which pages the signed-in person can use. */
export function usePages(): (page: Page) => boolean {
  const grants = useGrants();
  const { app } = useChosenApp();
  return ({ needs, about }) => {
    if (about === "all") return mayEverywhere(grants, needs);
    return about === "app" && app ? mayIn(grants, needs, app.app_id) : mayAnywhere(grants, needs);
  };
}
