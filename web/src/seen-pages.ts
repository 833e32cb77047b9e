import { useChosenApp } from "./chosen-app.tsx";
import { allow, grantsFor, grantsForAll, useGrants } from "./may.ts";
import type { Page } from "./pages.tsx";

/** Tells which pages the signed-in person can use. */
export function usePages(): (page: Page) => boolean {
  const grants = useGrants();
  const { app } = useChosenApp();
  return ({ needs, about }) => {
    if (about === "all") return allow(grantsForAll(grants), needs);
    return allow(about === "app" ? grantsFor(grants, app?.app_id) : grants, needs);
  };
}
