import type pg from "pg";
import type { App } from "../../db/app.ts";
import { loadUsers, type UserAccount } from "../../db/user-account.ts";
import { calendarOf } from "../../domain/calendar.ts";
import type { KnownClients } from "../../intake/known-clients.ts";
import type { Progress } from "../../intake/progress.ts";
import { LIMITS } from "../../limits.ts";
import { fieldsOf } from "../../platform/platform.ts";
import { platformOfLink } from "../../platform/registry.ts";

export type RecordContext = {
  pool: pg.Pool;
  known: KnownClients;
  progress: Progress;
  /** Whether this process fills the tables, so that waiting for them makes sense. */
  applies: boolean;
};

/** The record that user get returns, with an object named after the user's platform. */
export type UserRecord = Record<string, string | Record<string, string>>;

/**
 * Records in the requested order; unknown ids are left out. Waits for users who registered a moment ago, so that a
 * look-up right after an acknowledged registration finds the user.
 */
export async function findUserRecords(
  { pool, known, progress, applies }: RecordContext,
  app: App,
  clientIds: readonly string[],
): Promise<UserRecord[]> {
  const unique = [...new Set(clientIds)];
  const pendingUntil = applies ? known.pendingUntil(app.appId, unique) : undefined;
  if (pendingUntil !== undefined) {
    await progress.waitFor({ appId: app.appId, position: pendingUntil }, LIMITS.appliedWaitMs);
  }
  const users = await loadUsers(
    pool,
    unique.map((clientId) => ({ appId: app.appId, clientId })),
    [],
  );
  const byId = new Map(users.map((user) => [user.clientId, user]));
  return unique.flatMap((clientId) => {
    const user = byId.get(clientId);
    return user ? [recordOf(user, app)] : [];
  });
}

function recordOf(user: UserAccount, app: App): UserRecord {
  const platform = platformOfLink(user.adPlatform);
  const field = fieldsOf(user.adData);
  return {
    create_time: calendarOf(app.timeZone).textOf(user.registeredAtMs),
    client_id: user.clientId,
    channel: user.channel,
    click_company: user.adPlatform,
    advertiser_id: user.advertiserId,
    gid: user.gid,
    aid: user.aid,
    cid: user.cid,
    csite: user.csite,
    turbo_promoted_object_id: user.campaignId,
    ...(platform && {
      [platform.record.name]: Object.fromEntries(platform.record.fields.map((name) => [name, field(name)])),
    }),
  };
}
