import type pg from "pg";
import type { Candidate, NamedCampaign } from "../domain/attribution/attribution.ts";
import type { Flag } from "../domain/attribution/fraud.ts";
import type { Method } from "../domain/attribution/method.ts";
import { copyJson, copyNullable, copyRows, copyText, mergeRows, replacing, rowsFrom } from "./engine/copy.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** What was known about the user when the decision was made. */
export type DecidedSubject = {
  launch: string | null;
  /** The campaign that the registration names, when it tells the platform. */
  campaign?: NamedCampaign;
  reported: string | null;
  /** The kinds of key that the user has: "oaid", "click_key" … */
  keys: string[];
};

/** `number`: 1 for the registration, higher for a return. */
export type DecisionKey = { appId: number; clientId: string; number: number };

export type StoredDecision = DecisionKey & {
  /** The instant of the registration or return. */
  atMs: number;
  /** When the last input to the decision was received. */
  decidedAtMs: number;
  /** Empty for an organic user. */
  method: Method | "";
  adPlatform: string;
  touchId: string | null;
  touchedAtMs: number | null;
  campaignId: string;
  flags: Flag[];
  subject: DecidedSubject;
  candidates: Candidate[];
};

const COLUMNS =
  "app_id, client_id, number, at_ms, decided_at_ms, method, ad_platform, touch_id, touched_at_ms, turbo_promoted_object_id, flags, subject, candidates";

const TARGET = { table: "attribution_decision", columns: COLUMNS };

/** Inserts the decisions of users who have none yet. */
export async function insertDecisions(tx: pg.PoolClient, decisions: readonly StoredDecision[]): Promise<void> {
  await copyRows(tx, TARGET, rowsFrom(decisions, toCopyRow));
}

/** Stores decisions; one that is made again with more knowledge replaces the one with its number. */
export async function storeDecisions(tx: pg.PoolClient, decisions: readonly StoredDecision[]): Promise<void> {
  if (decisions.length === 0) return;
  const replaced = replacing(COLUMNS.split(", ").slice(3));
  const conflict = sql`on conflict (app_id, client_id, number) do update set ${replaced}`;
  await mergeRows(tx, TARGET, { rows: rowsFrom(decisions, toCopyRow), conflict });
}

export async function deleteDecisions(tx: Executor, keys: readonly DecisionKey[]): Promise<void> {
  if (keys.length === 0) return;
  const gone = rowsOf("gone", keys, { appId: "int", clientId: "text", number: "int" });
  await execute(
    tx,
    sql`delete from attribution_decision d
      using ${gone}
      where d.app_id = gone.app_id and d.client_id = gone.client_id collate "C" and d.number = gone.number`,
  );
}

function toCopyRow(d: StoredDecision): string {
  return [
    d.appId,
    copyText(d.clientId),
    d.number,
    d.atMs,
    d.decidedAtMs,
    d.method,
    copyText(d.adPlatform),
    copyNullable(d.touchId),
    copyNullable(d.touchedAtMs),
    copyText(d.campaignId),
    `{${d.flags.join(",")}}`,
    copyJson(JSON.stringify(d.subject)),
    copyJson(JSON.stringify(d.candidates)),
  ].join("\t");
}

const columns = sql`app_id, client_id, number, at_ms, decided_at_ms, method, ad_platform,
  replace(touch_id::text, '-', '') as touch_id, touched_at_ms,
  turbo_promoted_object_id as campaign_id, flags, subject, candidates`;

/** All decisions about one user, in order. */
export async function loadDecisions(
  executor: Executor,
  user: { appId: number; clientId: string },
): Promise<StoredDecision[]> {
  return query<StoredDecision>(
    executor,
    sql`select ${columns} from attribution_decision where app_id = ${user.appId} and client_id = ${user.clientId} order by number`,
  );
}

/** A page of the decisions about registrations and returns in [from, until), in key order. */
export async function pageDecisions(
  executor: Executor,
  range: { appId: number; fromMs: number; untilMs: number; after: { clientId: string; number: number }; limit: number },
): Promise<StoredDecision[]> {
  return query<StoredDecision>(
    executor,
    sql`select ${columns} from attribution_decision
      where app_id = ${range.appId} and at_ms >= ${range.fromMs} and at_ms < ${range.untilMs}
        and (client_id, number) > (${range.after.clientId} collate "C", ${range.after.number}::int)
      order by client_id, number limit ${range.limit}`,
  );
}

/** Deletes and inserts, because the table may be distributed by the client's id, which then cannot be updated. */
export async function renameDecisions(
  tx: Executor,
  user: { appId: number; clientId: string; newClientId: string },
): Promise<void> {
  await execute(
    tx,
    sql`with moved as (delete from attribution_decision where app_id = ${user.appId} and client_id = ${user.clientId} returning *)
      insert into attribution_decision (app_id, client_id, number, at_ms, decided_at_ms, method, ad_platform, touch_id, touched_at_ms,
        turbo_promoted_object_id, flags, subject, candidates)
      select app_id, ${user.newClientId}, number, at_ms, decided_at_ms, method, ad_platform, touch_id, touched_at_ms,
        turbo_promoted_object_id, flags, subject, candidates from moved`,
  );
}
