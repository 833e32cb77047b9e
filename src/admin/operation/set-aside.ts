import type { Static } from "typebox";
import { replayBody } from "../../contract/admin/health.ts";
import { requestReplay } from "../../db/set-aside.ts";
import type { AppChoice } from "../../domain/access/role.ts";
import { act, type Desk } from "../desk.ts";

/** Requests that entries be replayed which were set aside; returns their number. Apply replays them between two batches. */
export function replaySetAside(desk: Desk, body: Static<typeof replayBody>, apps: AppChoice): Promise<number> {
  return act(desk, {
    action: "set-aside/replay",
    schema: replayBody,
    body,
    run: (tx) => requestReplay(tx, { ids: body.ids, apps }),
  });
}
