import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { claimOutbox } from "../../src/db/outbox.ts";
import { loadAccount } from "../../src/db/platform-account.ts";
import { laneOf } from "../../src/domain/postback/postback-book.ts";
import { TokenDesk } from "../../src/outbound/account-token.ts";
import { Sender } from "../../src/outbound/sender.ts";
import { tencentPostback } from "../../src/platform/tencent/postback.ts";
import { loadParcels } from "../../src/postback/parcel.ts";
import { PlatformChannel } from "../../src/postback/platform-channel.ts";
import { vault } from "../db/temp-database.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { Gate } from "./gate.ts";
import { BACK_OFF_MS, LEASE_MS, PostbackStage, until } from "./postback-stage.ts";

let stage: PostbackStage;
let kuaishou: KuaishouStandIn;
let tencent: TencentStandIn;
let gate: Gate;
beforeAll(async () => {
  stage = await PostbackStage.open();
  const { clock } = stage;
  [kuaishou, tencent] = [await startKuaishou({ clock }), await startTencent({ clock })];
});
beforeEach(async () => {
  await stage.begin();
  gate = await Gate.open();
});
afterEach(() => {
  gate.close();
  for (const standIn of [kuaishou, tencent]) {
    standIn.fail = () => undefined;
    standIn.accepted.length = 0;
  }
});
afterAll(async () => {
  await stage.close();
  await Promise.all([kuaishou, tencent].map((standIn) => standIn.close()));
});

const never = new AbortController().signal;

let people = 0;

describe("an expired token", () => {
  const account = (change: Record<string, string> = {}) => ({
    adPlatform: "tencent",
    settings: {
      url: `${tencent.url}/v3.0/user_actions/add`,
      token_url: `${tencent.url}/oauth/token`,
      client_id: tencent.clientId,
      ...change,
    },
    secrets: {
      access_token: tencent.tokens.accessToken,
      refresh_token: tencent.tokens.refreshToken,
      client_secret: tencent.clientSecret,
    },
  });
  const stored = async () => {
    const key = { appId: stage.stage.app.appId, adPlatform: "tencent", advertiserId: "" };
    return (await loadAccount(stage.pool, vault, key))!;
  };
  async function players(count: number): Promise<void> {
    await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
    for (let index = 0; index < count; index += 1) {
      people += 1;
      await stage.stage.register(`p${people}`, { ad_data: { gdt_vid: `g${people}` } });
    }
    await stage.stage.applyAll();
  }

  test("is renewed once, no matter how many calls find out, and stored encrypted", async () => {
    tencent.tokens.renew();
    await stage.account({ ...account(), lastError: "It did not work.", lastErrorAtMs: 1 });
    await players(20);
    tencent.tokens.expire();
    const before = tencent.calls;
    await stage.send(stage.worker());
    expect(tencent.accepted).toHaveLength(20);
    expect(tencent.calls - before).toBe(20 + 1 + 20);
    const { secrets, lastError, lastErrorAtMs, tokenExpiresAtMs } = await stored();
    expect(secrets.access_token).toBe(tencent.tokens.accessToken);
    expect([lastError, lastErrorAtMs, tokenExpiresAtMs]).toEqual(["", null, stage.nowMs + 86_400_000]);
    const { rows } = await stage.pool.query("select secrets_sealed, settings::text from platform_account");
    expect(JSON.stringify(rows)).not.toContain(tencent.tokens.accessToken);
    // Later calls use the new token from the start.
    await players(1);
    await stage.send(stage.worker());
    expect(tencent.calls - before).toBe(42);
  });

  test("is not used again by calls that were prepared before it was renewed", async () => {
    tencent.tokens.renew();
    await stage.account(account());
    await players(2);
    tencent.tokens.expire();
    const { pool, clock, nowMs } = stage;
    const sender = new Sender({ deadlineMs: PATIENCE_MS, connectionsMax: 1, mayCall: () => true });
    const deps = { pool, vault, clock, sender };
    const parts = { account: await stored(), connector: tencentPostback, lent: {} };
    const channel = new PlatformChannel({ ...deps, tokens: new TokenDesk(deps) }, parts);
    const lease = { nowMs, leaseUntilMs: nowMs + LEASE_MS, limit: 2 };
    const parcels = await loadParcels(pool, await claimOutbox(pool, { lane: laneOf(parts.account), ...lease }));
    const plans = parcels.map((parcel) => channel.plan(parcel));
    const calls: number[] = [];
    for (const plan of plans) {
      const before = tencent.calls;
      if (plan.kind === "attempt") expect(await plan.deliver()).toEqual({ kind: "accepted", cents: 0 });
      calls.push(tencent.calls - before);
    }
    sender.close();
    // The first one is refused, gets a new token and is accepted; the second one is accepted at once.
    expect(calls).toEqual([3, 1]);
  });

  async function statuses(): Promise<number[]> {
    return [...new Set((await stage.postbacks("status")).map(({ status }) => Number(status)))];
  }

  /** As if all waits were over: waiting postbacks are due, and platforms that are down are tried again. */
  async function later(): Promise<void> {
    const { rows } = await stage.pool.query("select max(due_at_ms) as due from outbox");
    stage.nowMs = Math.max(stage.nowMs, rows[0].due);
    stage.elapsedMs += 3_600_000;
  }

  test("without a new one: the account says why, and waiting postbacks go out when it is authorised again", async () => {
    tencent.tokens.renew();
    await stage.account(account({ client_id: "somebody else" }));
    await players(20);
    tencent.tokens.expire();
    const worker = stage.worker();
    await stage.send(worker);
    expect(await statuses()).toEqual([0]);
    expect((await stored()).lastError).toMatch(/No new token: No token came: HTTP 200, code 11001/);
    await later();
    const asked = tencent.calls;
    await stage.send(worker);
    // One call and one token were refused: a missing token is requested from time to time, not for every postback.
    expect(tencent.calls - asked).toBe(2);
    await stage.account(account());
    await later();
    await stage.send(worker);
    await later();
    await stage.send(worker);
    expect(await statuses()).toEqual([1]);
    expect(tencent.accepted).toHaveLength(20);
  });

  test("whose replacement is refused too: the postback waits, and fails when its attempts are used up", async () => {
    await stage.account(account());
    await players(1);
    const before = tencent.calls;
    tencent.fail = (call) => ((call - before) % 3 === 2 ? undefined : "bad_token");
    const worker = stage.worker();
    await stage.send(worker);
    expect(tencent.calls - before).toBe(3);
    expect((await stored()).lastError).toMatch(/^Refused with a new token as well/);
    for (const _ of BACK_OFF_MS) {
      await later();
      await stage.send(worker);
    }
    const reason = expect.stringMatching(/^Given up after \d+ attempts. Refused with a new token as well/);
    expect(await stage.postbacks()).toMatchObject([{ status: 2, reason }]);
  });

  test("does not matter to an account with a key, which no refusal replaces", async () => {
    tencent.tokens.renew();
    const { settings, secrets } = account();
    await stage.account({ ...account(), secrets: { ...secrets, postback_key: "refused-key" } });
    await players(1);
    const before = tencent.calls;
    const worker = stage.worker();
    await stage.send(worker);
    // One call, and none for a new token.
    expect(tencent.calls - before).toBe(1);
    expect(await statuses()).toEqual([0]);
    const { secrets: kept, lastError } = await stored();
    expect(lastError).toMatch(/^postback_key was refused: The platform answered 11\d\d\d/);
    expect(kept).toEqual({ ...secrets, postback_key: "refused-key" });
    await stage.account({ adPlatform: "tencent", settings, secrets: { ...secrets, postback_key: "" } });
    await later();
    await stage.send(worker);
    expect(await statuses()).toEqual([1]);
  });

  test("and no answer from the token server: only this account waits", async () => {
    tencent.tokens.renew();
    await stage.account(account({ token_url: `${gate.url}/oauth/token` }));
    await stage.kuaishou(kuaishou.url);
    await players(20);
    for (let index = 0; index < 20; index += 1) await stage.bring("kuaishou", `k${index}`);
    await stage.stage.applyAll();
    tencent.tokens.expire();
    const worker = stage.worker();
    await worker.turn(never);
    await until(() => gate.calls.length > 0);
    await until(async () => (await stage.outbox("lane")).every(({ lane }) => String(lane).includes("tencent")));
    expect(kuaishou.accepted).toHaveLength(20);
    gate.release({ status: 500 });
    await worker.rest();
    expect(gate.calls).toHaveLength(1);
    expect((await statuses()).sort()).toEqual([0, 1]);
  });
});
