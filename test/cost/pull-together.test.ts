import { afterEach, beforeEach, expect, test } from "vitest";
import type { CostRow } from "../../sim/platforms/costs.ts";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { type App, changeApp } from "../../src/db/app.ts";
import { loadCostAccounts } from "../../src/db/cost-pull.ts";
import type { PlatformAccount } from "../../src/db/platform-account.ts";
import { eventually, PATIENCE_MS } from "../support/patience.ts";
import { sharedServer } from "../support/shared-server.ts";
import { ACCESS, ACCOUNT, CostStage, NOON_MS, spent, TODAY } from "./stage.ts";

const stage = new CostStage();
const ONE = { kind: "range", fromDay: TODAY, toDay: TODAY } as const;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Only in this database: others share the cluster. */
const HOLDERS = `from pg_locks where locktype = 'advisory' and classid = 7226391
  and database = (select oid from pg_database where datname = current_database())`;

/** Ends the connections that hold an account, and waits until they have released it. */
async function endHolders(): Promise<void> {
  const ended = await stage.pool.query(`select pid, pg_terminate_backend(pid) ${HOLDERS}`);
  // Only these: the next holder may be there at once.
  const pids = ended.rows.map(({ pid }) => pid);
  const left = async () => (await stage.pool.query(`select 1 ${HOLDERS} and pid = any($1)`, [pids])).rows;
  await eventually(async () => expect(await left()).toEqual([]));
}

let rows: CostRow[];
let tencent: TencentStandIn;
let app: App;
let account: PlatformAccount;

beforeEach(async () => {
  // Other accounts would be due, too.
  await stage.pool.query("delete from platform_account");
  stage.nowMs = NOON_MS;
  rows = [spent(TODAY, 1, 100)];
  tencent = await startTencent({ clock: stage.clock, costs: rows, accounts: [ACCOUNT], readsPerMinute: 1_000_000 });
  app = await stage.app();
  account = await stage.account(app, ACCESS.tencent(tencent));
});
afterEach(() => tencent.close());

/** Accounts of another stand-in. */
async function others(count: number, sim: TencentStandIn): Promise<PlatformAccount[]> {
  const accounts = Array.from({ length: count }, (_, at) => String(1_000 + at));
  return Promise.all(accounts.map((advertiserId) => stage.account(app, ACCESS.tencent(sim), { advertiserId })));
}

test("the schedule pulls thirty days of a new account, then today and yesterday every hour", async () => {
  await stage.turn();
  expect(await stage.pulls(app)).toHaveLength(30);
  const calls = tencent.calls;
  stage.nowMs += 59 * MINUTE_MS;
  await stage.turn();
  expect(tencent.calls).toBe(calls);
  stage.nowMs += MINUTE_MS;
  rows[0]!.cents = 150;
  await stage.turn();
  expect((await stage.pulls(app)).map(({ at }: any) => at).filter((at) => at === stage.nowMs)).toHaveLength(2);
  expect(await stage.costs(app)).toEqual([expect.stringMatching(/ 15000$/)]);
});

test("an account with costs off, and a disabled app, are left alone", async () => {
  await stage.account(app, ACCESS.tencent(tencent), { costs: false });
  await stage.turn();
  await stage.account(app, ACCESS.tencent(tencent));
  await changeApp(stage.pool, app.appId, { enabled: false });
  await stage.turn();
  expect(tencent.calls).toBe(0);
});

test("a platform address that leads into a private network is not called", async () => {
  const puller = stage.puller({ mayCallPrivate: false });
  const [pulled] = await puller.pull([account], ONE);
  expect(pulled).toMatchObject({ error: expect.stringMatching(/private network/) });
  expect(tencent.calls).toBe(0);
  await puller.stop();
});

test("after failures an account is left alone for five minutes, fifteen, and an hour; a success resets that", async () => {
  tencent.fail = () => "server_error";
  const tried: number[] = [];
  for (let minute = 0; minute <= 150; minute += 1) {
    const before = tencent.calls;
    await stage.turn();
    if (tencent.calls > before) tried.push(minute);
    stage.nowMs += MINUTE_MS;
  }
  expect(tried).toEqual([0, 5, 20, 80, 140]);
  expect(await stage.stored(account)).toMatchObject({ lastError: "Tencent answered HTTP status 500." });
  tencent.fail = () => undefined;
  stage.nowMs += HOUR_MS;
  await stage.turn();
  const [known] = await loadCostAccounts(stage.pool, { fromDay: TODAY, of: account });
  expect(known).toMatchObject({ error: "", state: { failures: 0, attemptedAtMs: stage.nowMs } });
  expect(await stage.stored(account)).toMatchObject({ lastError: "", lastErrorAtMs: null });
});

test("a hanging account delays no other one", async () => {
  const down = await startTencent({ clock: stage.clock, accounts: [ACCOUNT] });
  down.fail = () => "hang";
  await stage.account(app, ACCESS.tencent(down));
  const fine = await startTencent({
    clock: stage.clock,
    accounts: Array.from({ length: 8 }, (_, at) => String(1_000 + at)),
  });
  const healthy = await others(8, fine);
  const puller = stage.puller();
  await puller.turn();
  await eventually(async () => {
    const { rows: pulled } = await stage.pool.query("select distinct advertiser_id from cost_pull where app_id = $1", [
      app.appId,
    ]);
    expect(pulled).toHaveLength(healthy.length);
  });
  // A hanging call does not keep the process from stopping.
  await puller.stop();
  expect((await stage.stored(account)).lastError).toBe("");
  await Promise.all([down.close(), fine.close()]);
});

test("more accounts than are pulled at once all get their turn", async () => {
  const fine = await startTencent({
    clock: stage.clock,
    accounts: Array.from({ length: 20 }, (_, at) => String(1_000 + at)),
  });
  await others(20, fine);
  await stage.turn();
  const { rows: pulled } = await stage.pool.query(
    "select advertiser_id, count(*) from cost_pull where app_id = $1 group by 1",
    [app.appId],
  );
  expect(pulled).toHaveLength(21);
  expect(pulled.every(({ count }) => count === 30)).toBe(true);
  await fine.close();
});

test("a pull stopped between two pages has stored nothing, and is no failure", async () => {
  rows.push(spent(TODAY, 2, 5));
  const slow = await startTencent({ clock: stage.clock, costs: rows, pageRows: 1 });
  const own = await stage.account(app, ACCESS.tencent(slow));
  slow.fail = (call) => (call === 3 ? "hang" : undefined);
  const puller = stage.puller();
  await puller.turn();
  await eventually(() => expect(slow.calls).toBe(3));
  await puller.stop();
  expect(await stage.costs(app)).toEqual([]);
  expect(await stage.pulls(app)).toEqual([]);
  expect((await stage.stored(own)).lastError).toBe("");
  slow.fail = () => undefined;
  await stage.turn();
  expect(await stage.costs(app)).toHaveLength(2);
  await slow.close();
});

test("a day is stored as a whole or not at all: a database that fails within it leaves the day as it was", async () => {
  await stage.pull(account, ONE);
  rows[0]!.cents = 7;
  rows.push(spent(TODAY, 2, 5));
  // The last statement of the day's transaction fails.
  await stage.pool.query(`alter table cost_pull add constraint no_more check (app_id <> ${app.appId}) not valid`);
  const { error } = await stage.pull(account, ONE);
  expect(error).toMatch(/no_more/);
  expect(await stage.costs(app)).toEqual([expect.stringMatching(/ 10000$/)]);
  await stage.pool.query("alter table cost_pull drop constraint no_more");
  await stage.pull(account, ONE);
  expect(await stage.costs(app)).toHaveLength(2);
});

test("two processes never pull the same account at once", async () => {
  const second = sharedServer().database(stage.databaseName);
  const [one, two] = [stage.puller(), stage.puller({ pool: second })];
  tencent.fail = (call) => (call === 1 ? "hang" : undefined);
  await one.turn();
  await eventually(() => expect(tencent.calls).toBe(1));
  expect(await two.pull([account], ONE)).toMatchObject([{ days: 0, error: "The account is already being pulled." }]);
  await two.turn();
  await two.settled();
  expect(tencent.calls).toBe(1);
  expect((await stage.stored(account)).lastError).toBe("");
  await one.stop();
  // The lock is gone with the pull.
  expect(await two.pull([account], ONE)).toMatchObject([{ days: 1, error: "" }]);
  await two.stop();
  await second.end();
});

test("a process that found an account due does not pull it again if another has pulled it meanwhile", async () => {
  const second = sharedServer().database(stage.databaseName);
  const slow = await startTencent({ clock: stage.clock, accounts: ["1000"] });
  slow.fail = () => "hang";
  await others(1, slow);
  // It has one slot, which the slow account takes first; this one waits behind it.
  const two = stage.puller({ pool: second, accountsAtOnce: 1 });
  await two.turn();
  await eventually(() => expect(slow.calls).toBe(1));
  await stage.pull(account, { kind: "open" });
  const { calls } = tencent;
  // Now the slow one fails, and the other gets its turn.
  await slow.close();
  await two.settled();
  expect(tencent.calls).toBe(calls);
  expect(await stage.pulls(app)).toHaveLength(30);
  await two.stop();
  await second.end();
});

test("a process that has lost its lock on the account can store nothing more", async () => {
  let isLost = false;
  tencent.fail = (call) => {
    if (call === 2) void endHolders().then(() => (isLost = true));
    // Nothing more is answered until the lock is lost for certain.
    return call >= 2 && !isLost ? "busy" : undefined;
  };
  // As many as that takes.
  const waitsMs = Array.from({ length: PATIENCE_MS / 5 }, () => 5);
  await expect(stage.pull(account, ONE, { waitsMs })).rejects.toThrow();
  tencent.fail = () => undefined;
  expect(await stage.costs(app)).toEqual([]);
  expect(await stage.pull(account, ONE)).toMatchObject({ days: 1, error: "" });
});
