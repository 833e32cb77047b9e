import type { Device } from "../domain/user/device.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, query, sql } from "./engine/sql.ts";

export type UserDevice = { clientId: string; osPlatform: string; device: Device | null };

/** The devices of those clients who are users, in the order of their ids. */
export async function loadDevices(
  executor: Executor,
  { appId, clients }: { appId: number; clients: readonly string[] },
): Promise<UserDevice[]> {
  const wanted = rowsOf("wanted", clients, { clientId: ["text", (client) => client] });
  return query<UserDevice>(
    executor,
    sql`select u.client_id, u.os_platform, u.device from ${wanted}
      join user_account u on u.app_id = ${appId} and u.client_id = wanted.client_id collate "C"
      order by u.client_id`,
  );
}
