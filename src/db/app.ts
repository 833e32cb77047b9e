import { randomBytes } from "node:crypto";
import type { AppSecret } from "../domain/access/app-secret.ts";
import type { MetadataMode } from "../domain/event/metadata.ts";
import type { Rates } from "../domain/money.ts";
import type { RefundDay } from "../domain/refund.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { SecretOpener, Vault } from "../vault.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";
import { createDefaultRules } from "./postback-rule.ts";
import { sealFor } from "./sealed.ts";

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
  /** The share of a payment that is left after the platform's cut, in ten-thousandths. */
  payShareBp: number;
  /** The day on which a refund lowers revenue. */
  refundsOn: RefundDay;
  createdAtMs: number;
};

/** A change of settings; undefined fields stay as they are. */
export type AppChange = Partial<
  Pick<
    App,
    | "name"
    | "timeZone"
    | "currency"
    | "rates"
    | "metadataMode"
    | "requireRegistration"
    | "enabled"
    | "payShareBp"
    | "refundsOn"
  >
>;

type AppRow = Omit<App, "appKey" | "aesKey"> & { appKeySealed: string; aesKeySealed: string };

const columns = sql`app_id, name, access_token, app_key_sealed, aes_key_sealed, time_zone, currency, rates,
  metadata_mode, require_registration, enabled, pay_share_bp, refunds_on, created_at_ms`;

/** The channel that tells running servers about every change of an app or its metadata. */
const SETTINGS_CHANNEL = "touchpoint_settings";

export async function insertApp(
  executor: Executor,
  vault: Vault,
  app: { name: string; timeZone: string; metadataMode: MetadataMode; currency?: string; createdAtMs: number },
): Promise<App> {
  const [known] = await query<{ count: number }>(executor, sql`select count(*)::int as count from app`);
  if (known!.count >= LIMITS.apps) throw new ApiError("badParameter", `There are ${LIMITS.apps} apps already.`);
  const appKey = await sealFor(executor, vault, newSecret("app_key"));
  const aesKey = await sealFor(executor, vault, newSecret("aes_key"));
  const [row] = await query<AppRow>(
    executor,
    sql`insert into app (name, access_token, app_key_sealed, aes_key_sealed, time_zone, currency, rates,
        metadata_mode, require_registration, enabled, created_at_ms)
      values (${app.name}, ${newSecret("access_token")}, ${appKey}, ${aesKey}, ${app.timeZone}, ${app.currency ?? "CNY"}, '{}',
        ${app.metadataMode}, true, true, ${app.createdAtMs})
      returning ${columns}`,
  );
  await createDefaultRules(executor, row!.appId, app.createdAtMs);
  await tellSettingsChanged(executor, [row!.appId]);
  return unsealed(row!, vault);
}

/** An app without its keys, as the admin interface shows it. */
export function withoutKeys(app: App) {
  return {
    app_id: app.appId,
    name: app.name,
    access_token: app.accessToken,
    time_zone: app.timeZone,
    currency: app.currency,
    rates: app.rates,
    metadata: app.metadataMode,
    require_registration: app.requireRegistration,
    enabled: app.enabled,
    pay_share: app.payShareBp / 10_000,
    refunds_on: app.refundsOn,
    created_at_ms: app.createdAtMs,
  };
}

/** Apps by their ids, or by their access tokens. */
export type AppNames = { ids?: readonly number[]; tokens?: readonly string[] };

/** Loads the named apps, or all apps. */
export async function loadApps(executor: Executor, vault: SecretOpener, names?: AppNames): Promise<App[]> {
  const isNamed = names
    ? sql`app_id = any(${names.ids ?? []}::bigint[]) or access_token = any(${names.tokens ?? []}::text[])`
    : sql`true`;
  const rows = await query<AppRow>(executor, sql`select ${columns} from app where ${isNamed} order by app_id`);
  return rows.map((row) => unsealed(row, vault));
}

/** The part of an app that apply needs, without secrets. */
export type AppRules = Pick<App, "appId" | "timeZone" | "currency" | "rates">;

export async function loadAppRules(executor: Executor, appIds?: readonly number[]): Promise<AppRules[]> {
  return query<AppRules>(executor, sql`select app_id, time_zone, currency, rates from app where ${isOf(appIds)}`);
}

/** A condition on the column app_id; always true without ids. */
export function isOf(appIds: readonly number[] | undefined): Sql {
  return appIds === undefined ? sql`true` : sql`app_id = any(${appIds}::bigint[])`;
}

export async function changeApp(executor: Executor, appId: number, change: AppChange): Promise<boolean> {
  const assignments: Sql[] = [];
  if (change.name !== undefined) assignments.push(sql`name = ${change.name}`);
  if (change.timeZone !== undefined) assignments.push(sql`time_zone = ${change.timeZone}`);
  if (change.currency !== undefined) assignments.push(sql`currency = ${change.currency}`);
  if (change.rates !== undefined) assignments.push(sql`rates = ${ratesAfter(change.rates)}`);
  if (change.metadataMode !== undefined) assignments.push(sql`metadata_mode = ${change.metadataMode}`);
  if (change.requireRegistration !== undefined)
    assignments.push(sql`require_registration = ${change.requireRegistration}`);
  if (change.enabled !== undefined) assignments.push(sql`enabled = ${change.enabled}`);
  if (change.payShareBp !== undefined) assignments.push(sql`pay_share_bp = ${change.payShareBp}`);
  if (change.refundsOn !== undefined) assignments.push(sql`refunds_on = ${change.refundsOn}`);
  if (assignments.length === 0) return true;
  const all = assignments.reduce((left, right) => sql`${left}, ${right}`);
  const changed = await execute(executor, sql`update app set ${all} where app_id = ${appId}`);
  await tellSettingsChanged(executor, [appId]);
  return changed > 0;
}

/** Merges the given rates into the stored ones; an empty rate removes its currency. */
function ratesAfter(rates: Rates): Sql {
  const removed = Object.keys(rates).filter((currency) => rates[currency] === "");
  return sql`(rates || ${JSON.stringify(rates)}::jsonb) - ${removed}::text[]`;
}

/** Replaces a secret; the old one stops working. Undefined when there is no such app. */
export async function rotateSecret(
  executor: Executor,
  vault: Vault,
  { appId, which }: { appId: number; which: AppSecret },
): Promise<string | undefined> {
  const secret = newSecret(which);
  const stored = which === "access_token" ? secret : await sealFor(executor, vault, secret);
  const changed = await execute(executor, sql`update app set ${assignmentOf(which, stored)} where app_id = ${appId}`);
  await tellSettingsChanged(executor, [appId]);
  return changed > 0 ? secret : undefined;
}

function assignmentOf(which: AppSecret, stored: string): Sql {
  switch (which) {
    case "access_token":
      return sql`access_token = ${stored}`;
    case "app_key":
      return sql`app_key_sealed = ${stored}`;
    case "aes_key":
      return sql`aes_key_sealed = ${stored}`;
  }
}

export const TIME_ZONE_FIXED = "The time zone cannot change any more: days have been counted in the old one.";

/** Whether another time zone is wanted although the app must keep its own. */
export async function isTimeZoneFixed(
  executor: Executor,
  app: Pick<App, "appId" | "timeZone">,
  wanted: string | undefined,
): Promise<boolean> {
  return wanted !== undefined && wanted !== app.timeZone && (await appHasUsers(executor, app.appId));
}

/** Whether the app has any user: from then on its days, and so its time zone, are fixed. */
async function appHasUsers(executor: Executor, appId: number): Promise<boolean> {
  const rows = await query(executor, sql`select 1 from user_account where app_id = ${appId} limit 1`);
  return rows.length > 0;
}

export async function tellSettingsChanged(executor: Executor, appIds: readonly number[]): Promise<void> {
  for (const appId of new Set(appIds))
    await execute(executor, sql`select pg_notify(${SETTINGS_CHANNEL}, ${String(appId)})`);
}

/** Keeps others from creating an app until the transaction ends. */
export async function lockApps(tx: Executor): Promise<void> {
  await tx.query("lock table app in share row exclusive mode");
}

export async function listenForSettings(executor: Executor): Promise<void> {
  await executor.query(`listen ${SETTINGS_CHANNEL}`);
}

/** The AES key is base64, as clients expect it; the other secrets are hexadecimal. */
function newSecret(which: AppSecret): string {
  return randomBytes(16).toString(which === "aes_key" ? "base64" : "hex");
}

function unsealed(row: AppRow, vault: SecretOpener): App {
  const { appKeySealed, aesKeySealed, ...app } = row;
  return { ...app, appKey: vault.open(appKeySealed), aesKey: vault.open(aesKeySealed) };
}
