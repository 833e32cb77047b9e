import { queries } from "../api.ts";

export const VIEWS = "report/views";

/** Fetches the saved views again, so that a change shows at once. */
export function refreshViews(appId: number): Promise<void> {
  return queries.invalidateQueries({ queryKey: [VIEWS, appId] });
}
