import { type Grants, mayAnywhere, mayEverywhere, mayIn, type Need } from "../../src/domain/access/role.ts";
import { useChosenApp } from "./chosen-app.tsx";
import { useSession } from "./session.tsx";

/** What the signed-in person may do. */
export function useGrants(): Grants {
  return useSession().grants.map(({ app_id, role }) => ({ appId: app_id, role }));
}

/** Whether the person may do something with the chosen app; without one, with any. The server decides again. */
export function useMay(need: Need): boolean {
  const grants = useGrants();
  const { app } = useChosenApp();
  if (need === "installation") return mayEverywhere(grants, need);
  return app ? mayIn(grants, need, app.app_id) : mayAnywhere(grants, need);
}
