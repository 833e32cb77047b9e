import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { QIHOO_KEY, QIHOO_SECRET, startQihoo360 } from "../../sim/platforms/qihoo-360.ts";
import type { StandIn } from "../../sim/platforms/stand-in.ts";
import { startUc, ucCallback } from "../../sim/platforms/uc.ts";
import { storeDeclaration } from "../../src/db/declared-connector.ts";
import { loadAccount } from "../../src/db/platform-account.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { loadConnectors } from "../../src/outbound/connectors.ts";
import { dryRun } from "../../src/postback/dry-run.ts";
import { lentTo } from "../../src/postback/platform-channel.ts";
import { triedRule } from "../../src/postback/rules.ts";
import { NOW_MS, pay } from "../db/apply-stage.ts";
import { vault } from "../db/temp-database.ts";
import { workedExample } from "../platform/declared/worked-examples.ts";
import { PostbackStage } from "./postback-stage.ts";

let stage: PostbackStage;
let qihoo: StandIn;
let uc: StandIn;
beforeAll(async () => {
  stage = await PostbackStage.open();
  const { clock } = stage;
  [qihoo, uc] = [await startQihoo360({ clock }), await startUc({ clock })];
});
beforeEach(async () => {
  await stage.begin();
  await stage.pool.query("truncate declared_connector");
  await stage.pool.query("update postback_rule set enabled = true");
  for (const standIn of [qihoo, uc]) {
    standIn.accepted.length = 0;
    standIn.refused.length = 0;
    standIn.fail = () => undefined;
  }
});
afterAll(async () => {
  await stage.close();
  await Promise.all([qihoo.close(), uc.close()]);
});

async function declare(adPlatform: string, declaration: JsonObject): Promise<void> {
  const { appId } = stage.stage.app;
  await storeDeclaration(stage.pool, { appId, adPlatform, declaration, changedAtMs: 0 });
}

/** Qihoo 360 as in the documentation, at the stand-in's address. */
async function declareQihoo(change: JsonObject = {}): Promise<void> {
  await declare("qihu360", { ...workedExample("qihu360"), url: `${qihoo.url}/uploadWebConvert`, ...change });
  await stage.account({
    adPlatform: "qihu360",
    settings: { app_key: QIHOO_KEY },
    secrets: { app_secret: QIHOO_SECRET },
  });
}

/** A user brought by a click, of whom only the activation is told. */
async function visitor(client: string): Promise<void> {
  await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
  await arrive(client);
  await stage.stage.applyAll();
}

/** A user brought by a click, who pays once. */
async function buyer(client: string): Promise<void> {
  await arrive(client);
  await stage.stage.collect(client, [pay(`${client}-1`, 648)]);
  await stage.stage.applyAll();
}

async function arrive(client: string): Promise<void> {
  const at = NOW_MS - 60_000;
  const link = new URLSearchParams({
    company: "qihu360",
    ts: String(at),
    oaid: `o-${client}`,
    click_id: `q-${client}`,
  });
  await stage.stage.append("click", "", link.toString(), { at });
  await stage.stage.register(client, { device_info: { os_name: "Android 14", oaid: `o-${client}` } });
}

describe("a declared connector", () => {
  test("brings each conversion to the platform exactly once, signed as the platform wants it", async () => {
    await declareQihoo();
    await buyer("u");
    const worker = stage.worker();
    await stage.sendAll(worker);
    await stage.sendAll(worker);
    expect(qihoo.refused).toEqual([]);
    const told = qihoo.accepted.map(({ key, code, cents }) => [key, code, cents]).sort();
    expect(told).toEqual([
      ["q-u", "ACTIVATION", null],
      ["q-u", "PAY", 648],
      ["q-u", "REGISTERED", null],
    ]);
    expect(new Set(qihoo.accepted.map(({ dedupeId }) => dedupeId)).size).toBe(3);
    expect(await stage.orders()).toEqual([{ trace_id: "u-1", postback_status: 1, back_cents: 648 }]);
  });

  test("tries again after an answer that is no success, and then brings it once", async () => {
    await declareQihoo();
    await visitor("u");
    const first = qihoo.calls + 1;
    qihoo.fail = (call) => (call === first ? "busy" : call === first + 1 ? "not_json" : undefined);
    await stage.sendAll(stage.worker());
    expect(qihoo.calls).toBe(first + 2);
    expect(qihoo.accepted).toMatchObject([{ key: "q-u", code: "ACTIVATION" }]);
  });

  test("does not repeat what may have counted, unless the platform detects repeats", async () => {
    await declareQihoo();
    await visitor("u");
    const first = qihoo.calls + 1;
    qihoo.fail = (call) => (call === first ? "accept_then_reset" : undefined);
    await stage.sendAll(stage.worker());
    expect(qihoo.accepted).toHaveLength(1);
    expect(await stage.postbacks("status, reason")).toEqual([
      { status: 2, reason: expect.stringMatching(/may have counted/) },
    ]);
    await declareQihoo({ repeats: "detected" });
    await visitor("v");
    const next = qihoo.calls + 1;
    qihoo.fail = (call) => (call === next ? "accept_then_reset" : undefined);
    await stage.sendAll(stage.worker());
    expect(qihoo.accepted.slice(1).map(({ key, dedupeId }) => [key, dedupeId])).toEqual(
      Array(2).fill(["q-v", qihoo.accepted[1]!.dedupeId]),
    );
  });

  test("calls the address that the click brought, on the declared host alone", async () => {
    await declare("uc", { ...workedExample("uc"), callback_hosts: "127.0.0.1" });
    await stage.account({ adPlatform: "uc" });
    await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
    await stage.bring("uc", "u", ucCallback(uc, "c-u"));
    await stage.bring("uc", "forged", "https://evil.example/callback/appapi?click_id=1");
    await stage.stage.applyAll();
    await stage.sendAll(stage.worker());
    expect(uc.refused).toEqual([]);
    expect(uc.accepted).toMatchObject([{ key: "c-u", code: "1", cents: null }]);
    expect(await stage.postbacks("client_id, status, reason")).toEqual([
      { client_id: "forged", status: 3, reason: "The callback's host is not one of the platform's." },
      { client_id: "u", status: 1, reason: "" },
    ]);
  });

  test("is not called in a private network, whatever was allowed when it was declared", async () => {
    await declareQihoo();
    await visitor("u");
    const before = qihoo.calls;
    await stage.send(stage.worker({ mayCallPrivate: { platforms: false, callbacks: true } }));
    expect(qihoo.calls).toBe(before);
    expect(await stage.postbacks("status, reason")).toEqual([
      { status: 0, reason: expect.stringMatching(/private network/) },
    ]);
  });

  test("that cannot be read leaves its postbacks waiting until it can", async () => {
    await declareQihoo({ url: "?" });
    await visitor("u");
    const worker = stage.worker();
    await stage.send(worker);
    expect(await stage.postbacks("status")).toEqual([{ status: 0 }]);
    await declareQihoo();
    await stage.sendAll(worker);
    expect(qihoo.accepted).toHaveLength(1);
  });

  test("is lent nothing that belongs to the app", async () => {
    await declareQihoo();
    const { appId } = stage.stage.app;
    const connectors = await loadConnectors(stage.pool, appId);
    const key = { appId, adPlatform: "qihu360", advertiserId: "" };
    const account = (await loadAccount(stage.pool, vault, key))!;
    const tokens = new Map([[appId, new Map([["wechat", "t"]])]]);
    const lentBy = (platform: string) =>
      lentTo(account, connectors.postbackOf(platform)!, { tokens, secrets: new Map() });
    expect(lentBy("tencent")).toMatchObject({ wechat_access_token: "t" });
    expect(lentBy("qihu360")).toEqual({});
  });
});

test("a platform without a connector takes nothing, and a dry run counts it as soon as it has one", async () => {
  await stage.account({ adPlatform: "kuaishou" });
  await buyer("u");
  expect(new Set((await stage.postbacks("reason")).map(({ reason }) => reason))).toEqual(new Set(["takes_none"]));
  const { appId } = stage.stage.app;
  const app = { appId, timeZone: "Asia/Shanghai" };
  const given = { moment: "activate", event_type: "activate" };
  const tried = async () => {
    const rule = await triedRule(stage.pool, appId, { ruleId: undefined, given });
    const { platforms } = await dryRun(stage.pool, app, rule, { days: { fromDay: "2000-01-01", toDay: "2100-01-01" } });
    return platforms.map(({ ad_platform, sent, skipped }) => [ad_platform, sent, skipped]);
  };
  expect(await tried()).toEqual([["qihu360", 0, 1]]);
  await declareQihoo();
  expect(await tried()).toEqual([["qihu360", 1, 0]]);
});
