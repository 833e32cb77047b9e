import { createHash, randomBytes } from "node:crypto";
import type { DeveloperState } from "../domain/access/developer-state.ts";
import type { Vault } from "../vault.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { sealFor } from "./sealed.ts";

/** The number of report calls allowed within a window of seconds, over all reports. */
export type RateLevel = { calls: number; windowS: number };

export const DEFAULT_RATE: RateLevel = { calls: 1, windowS: 600 };

export type DeveloperApp = {
  developerId: number;
  name: string;
  purpose: string;
  state: DeveloperState;
  /** Why it was refused or disabled. */
  reason: string;
  appKey: string;
  apps: "all" | number[];
  rate: RateLevel;
  createdAtMs: number;
  decidedAtMs: number | null;
};

type DeveloperRow = Omit<DeveloperApp, "appKey" | "apps" | "rate"> & {
  sealed: string;
  allApps: boolean;
  appIds: number[];
  calls: number;
  windowS: number;
};

const columns = sql`developer_id, name, purpose, state, reason, app_key_sealed as sealed, all_apps, apps as app_ids,
  rate_calls as calls, rate_window_s as window_s, created_at_ms, decided_at_ms`;

export async function createDeveloperApp(
  executor: Executor,
  vault: Vault,
  developer: Pick<DeveloperApp, "name" | "purpose" | "apps" | "rate" | "createdAtMs">,
): Promise<DeveloperApp> {
  const appKey = newAppKey();
  const { apps, rate } = developer;
  const sealed = await sealFor(executor, vault, appKey);
  const [row] = await query<DeveloperRow>(
    executor,
    sql`insert into developer_app (name, purpose, state, reason, app_key_sealed, app_key_digest, all_apps, apps, rate_calls,
        rate_window_s, created_at_ms)
      values (${developer.name}, ${developer.purpose}, 'requested', '', ${sealed}, ${digestOf(appKey)},
        ${apps === "all"}, ${apps === "all" ? [] : apps}::int[], ${rate.calls}, ${rate.windowS}, ${developer.createdAtMs})
      returning ${columns}`,
  );
  return unsealed(row!, vault);
}

export async function loadDeveloperApps(executor: Executor, vault: Vault): Promise<DeveloperApp[]> {
  const rows = await query<DeveloperRow>(executor, sql`select ${columns} from developer_app order by developer_id`);
  return rows.map((row) => unsealed(row, vault));
}

export async function loadDeveloperApp(
  executor: Executor,
  vault: Vault,
  developerId: number,
): Promise<DeveloperApp | undefined> {
  const [row] = await query<DeveloperRow>(
    executor,
    sql`select ${columns} from developer_app where developer_id = ${developerId}`,
  );
  return row && unsealed(row, vault);
}

/** The application with the key that a caller names, found by its digest: the key itself is not stored in the clear. */
export async function findDeveloperApp(
  executor: Executor,
  vault: Vault,
  appKey: string,
): Promise<DeveloperApp | undefined> {
  const [row] = await query<DeveloperRow>(
    executor,
    sql`select ${columns} from developer_app where app_key_digest = ${digestOf(appKey)}`,
  );
  return row && unsealed(row, vault);
}

/** Returns false when there is no such application. */
export async function decideDeveloperApp(
  executor: Executor,
  decision: { developerId: number; state: DeveloperState; reason: string; decidedAtMs: number },
): Promise<boolean> {
  const changed = await execute(
    executor,
    sql`update developer_app set state = ${decision.state}, reason = ${decision.reason}, decided_at_ms = ${decision.decidedAtMs}
      where developer_id = ${decision.developerId}`,
  );
  return changed > 0;
}

export async function changeDeveloperApp(
  executor: Executor,
  change: { developerId: number; apps: "all" | readonly number[]; rate: RateLevel },
): Promise<boolean> {
  const changed = await execute(
    executor,
    sql`update developer_app set all_apps = ${change.apps === "all"}, apps = ${change.apps === "all" ? [] : [...change.apps]}::int[],
        rate_calls = ${change.rate.calls}, rate_window_s = ${change.rate.windowS}
      where developer_id = ${change.developerId}`,
  );
  return changed > 0;
}

/** Replaces the key; reports signed with the old one are refused. Undefined when there is no such application. */
export async function rotateDeveloperKey(
  executor: Executor,
  vault: Vault,
  developerId: number,
): Promise<string | undefined> {
  const appKey = newAppKey();
  const sealed = await sealFor(executor, vault, appKey);
  const changed = await execute(
    executor,
    sql`update developer_app set app_key_sealed = ${sealed}, app_key_digest = ${digestOf(appKey)}
      where developer_id = ${developerId}`,
  );
  return changed > 0 ? appKey : undefined;
}

function newAppKey(): string {
  return randomBytes(16).toString("hex");
}

function digestOf(appKey: string): string {
  return createHash("sha256").update(appKey).digest("hex");
}

function unsealed(row: DeveloperRow, vault: Vault): DeveloperApp {
  const { sealed, allApps, appIds, calls, windowS, ...rest } = row;
  return { ...rest, appKey: vault.open(sealed), apps: allApps ? "all" : appIds, rate: { calls, windowS } };
}
