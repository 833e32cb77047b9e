import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startApple } from "../../sim/platforms/apple.ts";
import type { CostRow } from "../../sim/platforms/costs.ts";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { importAdObjects, importAdvertisers, importCosts } from "../../src/cost/file-import.ts";
import { advertisersOf } from "../../src/db/ad-names.ts";
import { type App, changeApp } from "../../src/db/app.ts";
import { query, sql } from "../../src/db/engine/sql.ts";
import type { PlatformAccount } from "../../src/db/platform-account.ts";
import { ACCESS, ACCOUNT, CostStage, NOON_MS, spent, TODAY, YESTERDAY } from "./stage.ts";

const stage = new CostStage();
const ONE = { kind: "range", fromDay: TODAY, toDay: TODAY } as const;
const OTHER = "9007199254740993002";

let tencent: TencentStandIn;
let rows: CostRow[];
let app: App;
let account: PlatformAccount;

beforeEach(async () => {
  stage.nowMs = NOON_MS;
  rows = [spent(TODAY, 1, 100), spent(TODAY, 2, 200)];
  tencent = await startTencent({ clock: stage.clock, costs: rows, accounts: [ACCOUNT, OTHER] });
  app = await stage.app();
  account = await stage.account(app, ACCESS.tencent(tencent));
});
afterEach(() => tencent.close());

const file = (...lines: string[]) => Readable.from([lines.join("\n")]);
const costE4 = async (where: string): Promise<number> => {
  const { rows: found } = await stage.pool.query(
    `select coalesce(sum(cost_e4), 0)::bigint as sum from cost where app_id = $1 and ${where}`,
    [app.appId],
  );
  return found[0].sum;
};

test("an uploaded day of the account is replaced; other days, accounts, platforms and apps are not", async () => {
  const other = await stage.app();
  const head = "date,ad_platform,advertiser_id,aid,csite,channel,cost";
  const lines = [
    ...[`${TODAY},tencent,${ACCOUNT},7,here,shop,9`, `${YESTERDAY},tencent,${ACCOUNT},7,,,1`],
    ...[`${TODAY},tencent,${OTHER},7,,,2`, `${TODAY},kuaishou,${ACCOUNT},7,,,4`],
  ];
  for (const { appId } of [app, other]) {
    await importCosts(stage.pool, file(head, ...lines), { appId, changedAtMs: 1 });
  }
  await stage.pull(account, ONE);
  expect(await costE4(`ad_platform = 'tencent' and advertiser_id = '${ACCOUNT}' and day = '${TODAY}'`)).toBe(30_000);
  expect(await costE4("true")).toBe(30_000 + 70_000);
  expect(await stage.costs(other)).toHaveLength(4);
});

test("rows of the same ad become one, and so do rows without an ad", async () => {
  rows.push(spent(TODAY, 1, 1), spent(TODAY, 5, 7, { adId: "0" }), spent(TODAY, 5, 8, { adId: "0" }));
  const { rows: count } = await stage.pull(account, ONE);
  expect(count).toBe(3);
  expect(await costE4("aid = '7200000000000000001'")).toBe(10_100);
  expect(await costE4("aid = ''")).toBe(1_500);
});

test("names, statuses and people's remarks stay if the platform does not send them", async () => {
  const kuaishou = await startKuaishou({ clock: stage.clock, costs: [spent(TODAY, 1, 5)] });
  const own = await stage.account(app, ACCESS.kuaishou(kuaishou));
  const head = "ad_platform,advertiser_id,name,status,remark,operator,dept";
  await importAdvertisers(stage.pool, file(head, `kuaishou,${ACCOUNT},Ours,open,note,ann,games`));
  const objects = ["kuaishou,plan,7100000000000000002,Old plan,on", "kuaishou,plan,1,Another,off"];
  await importAdObjects(stage.pool, file("ad_platform,level,id,name,status", ...objects));
  await stage.pull(own, ONE);
  const advertiser = async () =>
    (await query(stage.pool, sql`select * from ${advertisersOf(app.appId)} a where advertiser_id = ${ACCOUNT}`))[0];
  const told = { name: `Account ${ACCOUNT}`, status: "open", remark: "note", operator: "ann", dept: "games" };
  expect(await advertiser()).toMatchObject(told);
  expect(await stage.names("plan")).toContain("kuaishou | Plan 7100000000000000002 | valid");
  expect(await stage.names("plan")).toContain("kuaishou | Another | off");
  await kuaishou.close();
});

test("if names are refused for good, the costs are stored, and the account says what is missing", async () => {
  // A proxy that may not read the advertiser's name.
  const proxy = createServer((request, response) => {
    if (request.url!.startsWith("/v3.0/advertiser/get")) response.end('{"code":11003,"message":"no permission"}');
    else void fetch(tencent.url + request.url).then(async (reply) => response.end(await reply.text()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const base_url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const own = await stage.account(app, ACCESS.tencent(tencent), { settings: { ...account.settings, base_url } });
  const pulled = await stage.pull(own, ONE);
  expect(pulled).toMatchObject({ days: 1, rows: 2, costE4: 30_000 });
  expect(pulled.error).toBe("Some names are missing: Tencent answered 11003: no permission.");
  expect((await stage.stored(own)).lastError).toBe(pulled.error);
  proxy.close();
});

test("if the platform is busy after the costs have arrived, they are stored, and the names come later", async () => {
  tencent.fail = (call) => (call > 2 ? "busy" : undefined);
  const pulled = await stage.pull(account, ONE);
  expect(pulled).toMatchObject({
    days: 1,
    rows: 2,
    error: "Some names are missing: Tencent answered 10000: system busy.",
  });
  tencent.fail = () => undefined;
  expect((await stage.pull(account, ONE)).error).toBe("");
});

test("each name is requested once, on however many pages and days its ad is", async () => {
  for (let day = 1; day <= 14; day += 1) rows.push(spent(`2026-11-${String(day).padStart(2, "0")}`, 1, day));
  const kuaishou = await startKuaishou({ clock: stage.clock, costs: rows, pageRows: 2 });
  const own = await stage.account(app, ACCESS.kuaishou(kuaishou));
  expect(await stage.pull(own, { kind: "range", fromDay: "2026-11-02", toDay: TODAY })).toMatchObject({ rows: 15 });
  // The last week has four pages of two rows by unit, by campaign and of the account. The week before needs three tasks:
  // each is made, asked after twice, and its file fetched. Then come the plans, the ads and the account.
  expect(kuaishou.calls).toBe(3 * 4 + 3 * 4 + 1 + 1 + 1);
  await kuaishou.close();
});

test("a platform with a rate limit gets the pause that it asks for", async () => {
  const days = Array.from({ length: 9 }, (_, ad) => spent(TODAY, ad, ad + 1));
  const strict = await startTencent({ clock: stage.clock, costs: days, pageRows: 1, readsPerMinute: 2 });
  const own = await stage.account(app, ACCESS.tencent(strict));
  strict.fail = () => {
    stage.nowMs += 20_000;
    return undefined;
  };
  expect(await stage.pull(own, ONE)).toMatchObject({ days: 1, rows: 9, costE4: 4_500, error: "" });
  expect(strict.refused.length).toBeGreaterThan(2);
  expect(strict.refused.every(({ reason }) => reason === "too many calls in a minute")).toBe(true);
  await strict.close();
});

test("costs in another currency are converted exactly by the app's rate; without a rate nothing of the day is stored", async () => {
  const dollars = [spent(TODAY, 1, 333), spent(TODAY, 2, 1), spent(YESTERDAY, 1, 7)];
  const apple = await startApple({ clock: stage.clock, costs: dollars, currency: "USD" });
  const own = await stage.account(app, ACCESS.asa(apple));
  const both = { kind: "range", fromDay: YESTERDAY, toDay: TODAY } as const;
  const pulled = await stage.pull(own, both);
  expect(pulled).toMatchObject({ days: 0, rows: 0 });
  expect(pulled.error).toBe(`There is no rate from USD to CNY: nothing was stored for ${YESTERDAY}, ${TODAY}.`);
  expect(await costE4("ad_platform = 'asa'")).toBe(0);
  expect((await stage.stored(own)).lastError).toBe(pulled.error);
  expect(await stage.pulls(app)).toEqual([]);
  await changeApp(stage.pool, app.appId, { rates: { USD: "7.123456789" } });
  expect(await stage.pull(own, both)).toMatchObject({ days: 2, error: "" });
  // 3.33 × 7.123456789 = 23.72111110737, 0.01 × … = 0.07123456789
  expect(await costE4("aid = '7200000000000000001' and day = '2026-11-15'")).toBe(237_211);
  expect(await costE4("aid = '7200000000000000002'")).toBe(712);
  expect((await stage.stored(own)).lastError).toBe("");
  await apple.close();
});

test("an amount in another currency than the account's is a matter of the rates, not of the account", async () => {
  await stage.account(app, ACCESS.tencent(tencent), { settings: { ...account.settings, currency: "cny" } });
  expect(await stage.pull(account, ONE)).toMatchObject({ days: 1, costE4: 30_000, error: "" });
});

test("a range is requested in parts that the platform accepts, newest first", async () => {
  const kuaishou = await startKuaishou({ clock: stage.clock, costs: [spent("2026-10-20", 1, 5), spent(TODAY, 1, 7)] });
  const own = await stage.account(app, ACCESS.kuaishou(kuaishou));
  const pulled = await stage.pull(own, { kind: "range", fromDay: "2026-10-17", toDay: TODAY });
  expect(pulled).toMatchObject({ days: 30, rows: 2, costE4: 1_200, error: "" });
  await kuaishou.close();
});

test("a day that has not begun in the platform's time zone does not affect other days", async () => {
  const apple = await startApple({
    clock: stage.clock,
    costs: [spent(YESTERDAY, 1, 7)],
    currency: "CNY",
    future: "refused",
  });
  const own = await stage.account(app, ACCESS.asa(apple));
  // Four in the morning in Shanghai, and still yesterday in UTC.
  stage.nowMs = Date.UTC(2026, 10, 14, 20);
  const pulled = await stage.pull(own, { kind: "open" });
  expect(pulled).toMatchObject({
    days: 29,
    costE4: 700,
    error: "Apple answered INVALID_ARGUMENT: the last day is in the future.",
  });
  stage.nowMs = NOON_MS;
  expect(await stage.pull(own, { kind: "open" })).toMatchObject({ days: 8, error: "" });
  await apple.close();
});

test("an account without an advertiser, or of a platform without costs, says so", async () => {
  const nobody = await stage.account(app, ACCESS.tencent(tencent), { advertiserId: "" });
  expect((await stage.pull(nobody, ONE)).error).toMatch(/no advertiser_id/);
  const vivo = await stage.account(app, { ...ACCESS.tencent(tencent), adPlatform: "vivo" });
  expect((await stage.pull(vivo, ONE)).error).toMatch(/^Costs cannot be pulled from vivo/);
  expect((await stage.stored(vivo)).lastError).toMatch(/^Costs cannot be pulled from vivo/);
});

test("an invalid address, and a token that no header can hold, are errors of the account", async () => {
  const wrong = await stage.account(app, ACCESS.tencent(tencent), { settings: { base_url: "nowhere" } });
  expect((await stage.pull(wrong, ONE)).error).toMatch(/cannot be made/);
  const kuaishou = await startKuaishou({ clock: stage.clock, costs: rows });
  const access = ACCESS.kuaishou(kuaishou);
  const odd = await stage.account(app, { ...access, secrets: { ...access.secrets, access_token: "a\nb" } });
  const { error } = await stage.pull(odd, ONE);
  expect(error).toMatch(/cannot be made/);
  expect(error).not.toContain("a\nb");
  await kuaishou.close();
});
