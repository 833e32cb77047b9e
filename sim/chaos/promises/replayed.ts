import { readFileSync } from "node:fs";
import { join } from "node:path";
import { POSTBACK_STATUS } from "../../../src/domain/postback/postback.ts";
import { openKeys } from "../../../src/installation.ts";
import { fileSource } from "../../../src/journal/reader.ts";
import type { Findings } from "../findings.ts";
import type { Site } from "../site.ts";
import { compareWithReplay, rowsIn } from "./replay-copy.ts";

/** Promise 3: the whole journal, applied to an empty copy of the settings, gives the same tables. */
export async function replayed(site: Site, findings: Findings): Promise<void> {
  const { durable } = await site.progress();
  const dir = join(site.dataDir, "journal");
  const { erasureKey } = await openKeys(site.pool, { dataDir: site.dataDir, secretKey: "" }, "existing");
  const journal = { id: readFileSync(join(dir, "id"), "utf8").trim(), dir };
  const untold = await loadUntold(site);
  const original = {
    pool: site.pool,
    openPool: (name: string) => site.openPool(name),
    sources: [fileSource(journal, () => durable)],
    erasureKey,
    rowsOf: (table: string) => ownRows(site, table, untold),
  };
  await compareWithReplay(original, findings);
}

/**
 * The rows of a table made from the market's journal entries. Other apps are left out, because the fuzzer may have changed
 * their settings after their entries were applied.
 */
async function ownRows({ pool, operator }: Site, table: string, untold: readonly string[]): Promise<string> {
  const { appId } = operator.app;
  const { rowCount } = await pool.query(
    "select 1 from information_schema.columns where table_name = $1 and column_name = 'app_id'",
    [table],
  );
  const text = rowsIn(table);
  const others = OF_POSTBACKS.includes(table) ? `and client_id <> all('{${untold.join(",")}}'::text[])` : "";
  if (rowCount) return `${text} where (app_id = ${appId} or app_id is null) ${others}`;
  if (table === "event_day") return `${text} where day in (select day from event where app_id = ${appId})`;
  if (table === "touch_week") return `${text} where week in (select week from touch where app_id = ${appId})`;
  // Another process has its own, empty journal.
  return `${text} where position > 0`;
}

const OF_POSTBACKS: readonly string[] = ["postback", "outbox", "orders"];

/**
 * Clients whose postback was skipped because the click lacked something the platform needs. A replay puts it into the outbox
 * again, and the sender skips it again: nothing is sent, but the tables wait for it.
 */
async function loadUntold({ pool, operator }: Site): Promise<string[]> {
  const { rows } = await pool.query(
    "select distinct client_id from postback where app_id = $1 and status = $2 and reason like '% %'",
    [operator.app.appId, POSTBACK_STATUS.skipped],
  );
  return rows.map((row) => row.client_id);
}
