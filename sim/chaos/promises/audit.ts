import type { Random } from "../../market/random.ts";
import type { Findings } from "../findings.ts";
import type { Site } from "../site.ts";
import type { Audit, Known } from "./audited.ts";
import { countedOnce } from "./counted-once.ts";
import { everythingThere } from "./everything-there.ts";
import { explained } from "./explained.ts";
import { lakeInStep } from "./lake-in-step.ts";
import { maxima } from "./maxima.ts";
import { openedNumbers } from "./opened-numbers.ts";
import { toldOnce } from "./told-once.ts";

const NEWCOMERS_MAX = 300;

/**
 * Checks the state of a server at rest against the truth. The fault itself adds what only it can see, such as whether
 * collection went on meanwhile.
 */
export async function audit(site: Site, findings: Findings, random: Random): Promise<void> {
  const { durable } = await site.progress();
  await site.journal.readOn(durable);
  const people = await knownPeople(site);
  const newcomers = people.filter(({ person }) => !site.seen.has(person.clientId)).slice(0, NEWCOMERS_MAX);
  const waitForApple = await loadWaitForApple(site);
  const given: Audit = { site, findings, random, durable, people, newcomers, waitForApple };
  await everythingThere(given);
  await countedOnce(given);
  await toldOnce(given);
  await maxima(given);
  await openedNumbers(given);
  await explained(given);
  await lakeInStep(given);
  for (const { person } of newcomers) site.seen.add(person.clientId);
}

async function knownPeople({ pool, operator, truth }: Site): Promise<Known[]> {
  const { rows } = await pool.query(
    `select client_id, ad_platform as platform, aid, method, touched_at_ms as touched from user_account where app_id = $1`,
    [operator.app.appId],
  );
  const byClient = new Map(rows.map((row) => [row.client_id, row]));
  return truth.people.flatMap((person) => {
    const row = byClient.get(person.clientId);
    if (!row) return [];
    const touchedAtMs = row.touched === null ? null : Number(row.touched);
    return [{ person, found: { platform: row.platform, aid: row.aid, method: row.method, touchedAtMs } }];
  });
}

async function loadWaitForApple({ pool, operator }: Site): Promise<Set<string>> {
  const { rows } = await pool.query("select client_id from asa_token where outcome = '' and app_id = $1", [
    operator.app.appId,
  ]);
  return new Set(rows.map((row) => row.client_id));
}
