import type { UserSearch } from "../../contract/admin/admin-user.ts";
import type { AppRules } from "../../db/app.ts";
import { type Executor, query, sql } from "../../db/engine/sql.ts";
import { loadUsers } from "../../db/user-account.ts";
import { findKeyHolders } from "../../db/user-key.ts";
import { ORGANIC } from "../../domain/attribution/attribution.ts";
import { clickKeys, deviceKeys, type Key, openIdKeys, touchDeviceKeys } from "../../domain/attribution/touch-key.ts";
import { calendarOf } from "../../domain/calendar.ts";
import { deviceOf } from "../../domain/user/device.ts";
import { LIMITS } from "../../limits.ts";

/** A client, and the kind of id by which it was found. */
type Found = { clientId: string; by: string };

/** The users who have an id. Each kind of id has its own index, so the number of users does not matter. */
export async function searchUsers(
  executor: Executor,
  app: Pick<AppRules, "appId" | "timeZone">,
  asked: { id: string; platforms: readonly string[] },
): Promise<UserSearch> {
  const of = { appId: app.appId, id: asked.id };
  const found = [
    ...(await byClientId(executor, of)),
    ...(await byOrder(executor, of)),
    ...(await byUnionId(executor, of)),
    ...(await byKeys(executor, of, keysOf(asked.id, asked.platforms))),
  ];
  const byClient = new Map<string, Set<string>>();
  for (const { clientId, by } of found) byClient.set(clientId, (byClient.get(clientId) ?? new Set()).add(by));
  const clients = [...byClient.keys()].slice(0, LIMITS.usersFound);
  const keys = clients.map((clientId) => ({ appId: app.appId, clientId }));
  const users = new Map((await loadUsers(executor, keys, [])).map((user) => [user.clientId, user]));
  const shown = clients.flatMap((clientId) => {
    const user = users.get(clientId);
    if (!user) return [];
    return [
      {
        client_id: clientId,
        found_by: [...byClient.get(clientId)!],
        name: user.name,
        registered_at: calendarOf(app.timeZone).textOf(user.registeredAtMs),
        ad_platform: user.adPlatform || ORGANIC,
        channel: user.channel,
        pay_cents: user.payCents,
      },
    ];
  });
  return { users: shown };
}

type Wanted = { appId: number; id: string };

/** Clients whose id begins with the text. An exact match comes first, because it sorts before all longer ids. */
async function byClientId(executor: Executor, { appId, id }: Wanted): Promise<Found[]> {
  const rows = await query<{ clientId: string }>(
    executor,
    sql`select client_id from user_account
      where app_id = ${appId} and client_id ^@ ${id} order by client_id limit ${LIMITS.usersFound}`,
  );
  return rows.map(({ clientId }) => ({ clientId, by: clientId === id ? "client_id" : "client_id_prefix" }));
}

async function byOrder(executor: Executor, { appId, id }: Wanted): Promise<Found[]> {
  return query<Found>(
    executor,
    sql`select client_id, 'order_id' as by from order_key where app_id = ${appId} and trace_id = ${id}`,
  );
}

async function byUnionId(executor: Executor, { appId, id }: Wanted): Promise<Found[]> {
  return query<Found>(
    executor,
    sql`select client_id, 'wx_unionid' as by from user_account
      where app_id = ${appId} and wx_unionid = ${id} and wx_unionid <> '' order by client_id limit ${LIMITS.usersFound}`,
  );
}

async function byKeys(executor: Executor, { appId }: Wanted, keys: readonly Key[]): Promise<Found[]> {
  const names = new Map(keys.map(({ value, by }) => [value, by]));
  const holders = await findKeyHolders(executor, { appId, keys: [...names.keys()], limit: LIMITS.usersFound });
  return holders.map(({ key, clientId }) => ({ clientId, by: names.get(key)! }));
}

const DEVICE_IDS = ["imei", "oaid", "idfa", "idfv", "android_id", "mac", "caid1_md5", "caid2_md5"];

/** Every key that a user with this id could have, whatever kind of id it is. */
function keysOf(id: string, platforms: readonly string[]): Key[] {
  return [
    ...openIdKeys(id),
    ...deviceKeys(deviceOf(Object.fromEntries(DEVICE_IDS.map((name) => [name, id])))),
    ...touchDeviceKeys((name) => (name.endsWith("_md5") ? id : "")),
    ...platforms.flatMap((platform) => clickKeys(platform, [id])),
  ];
}
