import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { faultNamed } from "../../sim/chaos/faults/faults.ts";
import { Findings, PROMISE_NUMBERS } from "../../sim/chaos/findings.ts";
import { audit } from "../../sim/chaos/promises/audit.ts";
import { replayed } from "../../sim/chaos/promises/replayed.ts";
import { type RoundOutcome, runRound } from "../../sim/chaos/round.ts";
import { Site } from "../../sim/chaos/site.ts";
import { isFlawless, tallyOf, tallyTables } from "../../sim/chaos/tally.ts";
import { Random } from "../../sim/market/random.ts";

const SEED = 20_261_115;
const STRUCK = ["kill_server", "journal_corrupt", "kill_backend", "kill_apply"];

let site: Site;
beforeAll(async () => {
  site = await Site.open({ kind: "embedded", seed: SEED, peoplePerS: 6 });
});
afterAll(() => site.remove());

/** The short form of `npm run chaos`. */
test("after each fault under the market's load all ten promises hold", async () => {
  const outcomes: RoundOutcome[] = [];
  for (const [index, name] of STRUCK.entries()) {
    const replays = index === STRUCK.length - 1 ? "yes" : "no";
    outcomes.push(await runRound(faultNamed(name)!, site, { number: index + 1, seed: SEED, form: "short", replays }));
  }
  expect(
    outcomes.flatMap(({ fault, violations, failure = [] }) => [violations, failure].flat().map((one) => [fault, one])),
  ).toEqual([]);
  const tally = tallyOf(outcomes);
  expect(isFlawless(tally)).toBe(true);
  expect(tally).toMatchObject({ rounds: STRUCK.length, killRounds: 3, events: { lost: 0, doubled: 0 } });
  expect(tally.events.acknowledged).toBeGreaterThan(STRUCK.length * 60);
  for (const promise of PROMISE_NUMBERS) expect(tally.promises[promise].checks, `of ${promise}`).toBeGreaterThan(0);
  expect(tallyTables(tally)).toContain("| kill_backend ");
});

test("an audit notices what is lost, doubled, miscounted, unreported, unexplained or too many", async () => {
  const { appId } = site.operator.app;
  const harm = (statement: string) => site.pool.query(statement, [appId]);
  const [kept] = (await harm("select client_id from event where app_id = $1 limit 1")).rows;
  await harm(`delete from event where app_id = $1 and (client_id, fingerprint) =
    (select client_id, fingerprint from event where app_id = $1 and client_id <> '${kept.client_id}' limit 1)`);
  const properties = "properties_text, origin_id, properties_rest";
  await harm(`insert into event (app_id, client_id, day, at_ms, fingerprint, type, event, received_at_ms, ${properties})
    select app_id, client_id, day, at_ms + 1, gen_random_uuid(), type, event, received_at_ms, ${properties}
    from event where app_id = $1 and client_id = '${kept.client_id}' limit 1`);
  await harm(`delete from touch where app_id = $1 and touch_id =
    (select touch_id from touch where app_id = $1 and kind = 'click' and details::text ~ '[^a-z]cp[0-9]{6}' limit 1)`);
  await harm("update ledger_minute set events = events + 1 where app_id = $1 and outcome = 'received'");
  await harm("update cube set pay_cents = pay_cents + 100 where app_id = $1");
  await harm(`delete from attribution_decision where app_id = $1 and client_id =
    (select client_id from attribution_decision where app_id = $1 limit 1)`);
  await site.pool.query(`insert into set_aside (journal_id, from_position, until_position, reason, payload, state)
    values ('x', 1, 2, 'nobody knows', '', 'waiting')`);
  const { accepted } = site.counterparts.byPlatform.kuaishou!;
  accepted.push({ ...accepted[0]!, isDuplicate: false });
  // Three connections, where the server itself may have two.
  const pool = new pg.Pool({ ...site.pool.options, application_name: "touchpoint apply", max: 3 });
  const many = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);

  const findings = new Findings();
  await audit(site, findings, new Random(SEED, "audit"));
  await replayed(site, findings);
  expect({ lost: findings.lost, doubled: findings.doubled }).toEqual({ lost: 1, doubled: 1 });
  const broken = [...new Set(findings.violations.map(({ promise }) => promise))].sort((left, right) => left - right);
  expect(broken).toEqual([1, 2, 3, 4, 6, 7, 8, 9, 10]);
  expect(findings.violations.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^1 acknowledged touches are missing: \w+ click i?[ce]p/),
  );
  for (const one of many) one.release();
  await pool.end();
});
