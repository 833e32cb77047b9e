import { beforeAll, expect } from "vitest";
import { signedRequest } from "../../../src/client/report-client.ts";
import type { App } from "../../../src/db/app.ts";
import { createDeveloperApp, decideDeveloperApp } from "../../../src/db/developer-app.ts";
import { openVault } from "../../../src/vault.ts";
import { call } from "../../support/call.ts";
import type { Answer, Touchpoint } from "../../support/touchpoint.ts";
import type { Row } from "../fixture.ts";

export const LISTS = ["order", "user"] as const;
export type List = (typeof LISTS)[number];

/** The attribution fields of every record, by their names in the interface. */
export const ATTRIBUTION_FIELDS: readonly string[] = [
  ..."CreateTime ClientID AdPlatform Channel Version TurboPromotedObjectID Name WXOpenID".split(" "),
  ..."AdvertiserID AdAid AdGid AdCid CSite LatestLoginDay".split(" "),
];
export const USER_FIELDS: readonly string[] = [
  ..."ad_24h_avg_ecpm ad_24h_count ad_24h_ltv ad_avg_ecpm ad_count ad_ltv ad_max_ecpm brand channel city".split(" "),
  ..."country first_pay_method first_pay_reason first_pay_time first_scene gender".split(" "),
  ..."interstitial_ad_24_ltv interstitial_ad_count interstitial_ad_ltv interstitial_ad_max_ecpm".split(" "),
  ..."manufacturer model os pay_amount_sum pay_count pay_max_amount province reward_ad_24h_ltv".split(" "),
  ..."reward_ad_count reward_ad_ltv reward_ad_max_ecpm ta_account_id ta_distinct_id".split(" "),
].map((name) => `user$${name}`);

/** Pulls the lists, signed by a developer application with access to every app and a generous rate. */
export class ReportLists {
  readonly #server: Touchpoint;
  #appKey = "";

  constructor(server: Touchpoint) {
    this.#server = server;
    beforeAll(async () => {
      this.#appKey = await approvedKey(server);
    });
  }

  /** Sends exactly this body. */
  async send(list: List, body: object): Promise<Answer> {
    const request = signedRequest(body, this.#appKey);
    const headers = { "content-type": "application/json", authorization: request.authorization };
    const url = `${this.#server.url}/openapi/api/v1/report/${list}/list/`;
    return call(url, { method: "POST", headers, body: request.body });
  }

  /** Asks with empty filters, unless they are given. */
  ask(list: List, app: App, more: Row = {}): Promise<Answer> {
    return this.send(list, { app_id: app.appId, user_filtering: {}, event_filtering: {}, ...more });
  }

  /** The `data` of a successful answer. */
  async read(list: List, app: App, more: Row = {}): Promise<Row> {
    const answer = await this.ask(list, app, more);
    expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
    return answer.data;
  }

  /** One field of each record, in the order of the list. */
  async column(list: List, app: App, field: string, more: Row = {}): Promise<any[]> {
    return (await this.read(list, app, { page_size: 500, ...more })).list.map((record: Row) => record[field]);
  }

  /** Checks that the request is refused for a parameter that the message names. */
  async expectRefused(list: List, app: App, more: Row, named: string | RegExp): Promise<void> {
    const msg = typeof named === "string" ? expect.stringContaining(named) : expect.stringMatching(named);
    expect(await this.ask(list, app, more)).toMatchObject({ status: 200, code: 1004, msg, data: {} });
  }
}

async function approvedKey(server: Touchpoint): Promise<string> {
  const vault = openVault({ dataDir: server.dataDir, secretKey: "" });
  const { developerId, appKey } = await createDeveloperApp(server.pool, vault, {
    name: "BI",
    purpose: "lists",
    apps: "all",
    rate: { calls: 100_000, windowS: 60 },
    createdAtMs: Date.now(),
  });
  await decideDeveloperApp(server.pool, { developerId, state: "approved", reason: "", decidedAtMs: Date.now() });
  return appKey;
}
