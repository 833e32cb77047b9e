import { randomBytes } from "node:crypto";
import type { MetadataMode } from "../domain/metadata.ts";
import type { Rates } from "../domain/money.ts";
import type { Vault } from "../vault.ts";
import { createDefaultRules } from "./postback-rule.ts";
import { type Executor, execute, query, type Sql, sql } from "./sql.ts";

export type App = {
  appId: number;
  name: string;
  accessToken: string;
  appKey: string;
  aesKey: string;
  timeZone: string;
  currency: string;
  rates: Rates;
  metadataMode: MetadataMode;
  requireRegistration: boolean;
  enabled: boolean;
  /** Of a payment, what is left after the platform's share, in ten-thousandths. */
  payShareBp: number;
  createdAtMs: number;
};

export type AppChange = Partial<
  Pick<
    App,
    "name" | "timeZone" | "currency" | "rates" | "metadataMode" | "requireRegistration" | "enabled" | "payShareBp"
  >
>;

type AppRow = Omit<App, "appKey" | "aesKey"> & { appKeySealed: string; aesKeySealed: string };

const columns = sql`app_id as "appId", name, access_token as "accessToken", app_key_sealed as "appKeySealed",
  aes_key_sealed as "aesKeySealed", time_zone as "timeZone", currency, rates, metadata_mode as "metadataMode",
  require_registration as "requireRegistration", enabled, pay_share_bp as "payShareBp", created_at_ms as "createdAtMs"`;

/** On this channel, every change of an app or its metadata is told to the servers that are running. */
const SETTINGS_CHANNEL = "touchpoint_settings";

export async function createApp(
  executor: Executor,
  vault: Vault,
  app: { name: string; timeZone: string; metadataMode: MetadataMode; createdAtMs: number },
): Promise<App> {
  const [row] = await query<AppRow>(
    executor,
    sql`insert into app (name, access_token, app_key_sealed, aes_key_sealed, time_zone, currency, rates,
        metadata_mode, require_registration, enabled, created_at_ms)
      values (${app.name}, ${newToken()}, ${vault.seal(randomBytes(16).toString("hex"))},
        ${vault.seal(randomBytes(16).toString("base64"))}, ${app.timeZone}, 'CNY', '{}',
        ${app.metadataMode}, true, true, ${app.createdAtMs})
      returning ${columns}`,
  );
  await createDefaultRules(executor, row!.appId, app.createdAtMs);
  await tellSettingsChanged(executor);
  return unsealed(row!, vault);
}

export async function loadApps(executor: Executor, vault: Vault): Promise<App[]> {
  const rows = await query<AppRow>(executor, sql`select ${columns} from app order by app_id`);
  return rows.map((row) => unsealed(row, vault));
}

/** What apply needs of an app: no secrets. */
export type AppRules = Pick<App, "appId" | "timeZone" | "currency" | "rates">;

export async function loadAppRules(executor: Executor): Promise<AppRules[]> {
  return query<AppRules>(executor, sql`select app_id as "appId", time_zone as "timeZone", currency, rates from app`);
}

export async function changeApp(executor: Executor, appId: number, change: AppChange): Promise<boolean> {
  const assignments: Sql[] = [];
  if (change.name !== undefined) assignments.push(sql`name = ${change.name}`);
  if (change.timeZone !== undefined) assignments.push(sql`time_zone = ${change.timeZone}`);
  if (change.currency !== undefined) assignments.push(sql`currency = ${change.currency}`);
  if (change.rates !== undefined) assignments.push(sql`rates = rates || ${JSON.stringify(change.rates)}::jsonb`);
  if (change.metadataMode !== undefined) assignments.push(sql`metadata_mode = ${change.metadataMode}`);
  if (change.requireRegistration !== undefined)
    assignments.push(sql`require_registration = ${change.requireRegistration}`);
  if (change.enabled !== undefined) assignments.push(sql`enabled = ${change.enabled}`);
  if (change.payShareBp !== undefined) assignments.push(sql`pay_share_bp = ${change.payShareBp}`);
  if (assignments.length === 0) return true;
  const all = assignments.reduce((left, right) => sql`${left}, ${right}`);
  const changed = await execute(executor, sql`update app set ${all} where app_id = ${appId}`);
  await tellSettingsChanged(executor);
  return changed > 0;
}

export async function rotateAccessToken(executor: Executor, appId: number): Promise<string | undefined> {
  const token = newToken();
  const changed = await execute(executor, sql`update app set access_token = ${token} where app_id = ${appId}`);
  await tellSettingsChanged(executor);
  return changed > 0 ? token : undefined;
}

/** Whether anything was ever stored for the app: from then on its days are fixed, and so is its time zone. */
export async function appHasUsers(executor: Executor, appId: number): Promise<boolean> {
  const rows = await query(executor, sql`select 1 from user_account where app_id = ${appId} limit 1`);
  return rows.length > 0;
}

export async function tellSettingsChanged(executor: Executor): Promise<void> {
  await execute(executor, sql`select pg_notify(${SETTINGS_CHANNEL}, '')`);
}

export async function listenForSettings(executor: Executor): Promise<void> {
  await executor.query(`listen ${SETTINGS_CHANNEL}`);
}

function newToken(): string {
  return randomBytes(16).toString("hex");
}

function unsealed(row: AppRow, vault: Vault): App {
  const { appKeySealed, aesKeySealed, ...app } = row;
  return { ...app, appKey: vault.open(appKeySealed), aesKey: vault.open(aesKeySealed) };
}
