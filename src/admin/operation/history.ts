import type { Static } from "typebox";
import { historyNote } from "../../contract/admin/history.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

/** Notes that past events of an app are imported, before they are: they go through the journal, not through a transaction. */
export function noteHistory(desk: Desk, body: Static<typeof historyNote>): Promise<void> {
  return act(desk, {
    action: "events/import",
    schema: historyNote,
    body,
    run: (tx) => assertApps(tx, [body.app_id]),
  });
}
