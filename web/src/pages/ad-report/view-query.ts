import { queries } from "../../api.ts";

export const VIEWS = "report/views";

/** Whatever was saved is shown in the list at once. */
export function refreshViews(appId: number): Promise<void> {
  return queries.invalidateQueries({ queryKey: [VIEWS, appId] });
}
