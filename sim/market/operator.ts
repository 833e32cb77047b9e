import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../../src/clock.ts";
import { embeddedConnection } from "../../src/db/engine/embedded-role.ts";
import { openPool } from "../../src/db/engine/pool.ts";
import { type PlatformAccount, storeAccount } from "../../src/db/platform-account.ts";
import { createLog } from "../../src/log.ts";
import { openVault } from "../../src/vault.ts";
import type { CostRow } from "../../test/report/oracle-market.ts";
import { builtScript } from "../built-script.ts";
import type { Catalogue } from "./ads.ts";
import { DATACENTRES } from "./device.ts";
import { plainEnvironment } from "./simulated-server.ts";

export type OperatedApp = { appId: number; accessToken: string };
const ATTRIBUTED_MS_MAX = 300_000;
const USERS_AT_ONCE = 100;
type RunningServer = { url: string; dataDir: string };

/** Does the operator's work, through the command line and the admin interface. */
export class Operator {
  readonly #server: RunningServer;
  readonly #adminToken: string;
  readonly app: OperatedApp;

  /** For an existing app. */
  constructor(server: RunningServer, parts: { app: OperatedApp; adminToken: string }) {
    this.#server = server;
    this.#adminToken = parts.adminToken;
    this.app = parts.app;
  }

  /** Creates an app for the market. */
  static async begin(server: RunningServer, options: { name: string; timeZone: string }): Promise<Operator> {
    const [made, token] = await Promise.all([
      cli(server, ["app", "create", "--name", options.name, "--time-zone", options.timeZone, "--json"]),
      cli(server, ["admin", "token"]),
    ]);
    const { app_id: appId, access_token: accessToken } = JSON.parse(made) as { app_id: number; access_token: string };
    return new Operator(server, { app: { appId, accessToken }, adminToken: token.trim() });
  }

  /** Creates campaigns, accounts with their operators and rebates, names and rules. */
  async settle(catalogue: Catalogue, rules: Readonly<Record<string, string>>): Promise<void> {
    const app_id = this.app.appId;
    for (const { id, name, platform, channel, os_platform, dept } of catalogue.campaigns) {
      const campaign = {
        app_id,
        turbo_promoted_object_id: id,
        name,
        ad_platform: platform,
        channel,
        os_platform,
        dept,
      };
      await this.post("campaigns/create", campaign);
    }
    const accounts = catalogue.accounts.map((one) => [one.ad_platform, one.advertiser_id, one.operator, one.dept]);
    await this.post("advertiser/import", { csv: csv(["ad_platform", "advertiser_id", "operator", "dept"], accounts) });
    const rebates = catalogue.rebates.map((one) => [
      ...[one.ad_platform, one.advertiser_id, one.fromDay, one.toDay, one.cashBp / 100, one.creditBp / 100],
    ]);
    const columns = ["ad_platform", "advertiser_id", "start_date", "end_date", "cash_percent", "credit_percent"];
    await this.post("rebate/import", { app_id, csv: csv(columns, rebates) });
    for (const { unit: ad_unit_id, fromDay: start_date, toDay: end_date, viewMicros } of catalogue.ecpms) {
      await this.post("ecpms/set", { app_id, ad_unit_id, start_date, end_date, ecpm: viewMicros / 1000 });
    }
    const ads = catalogue.ads.map((ad) => [ad.platform, "ad", ad.aid, ad.aidName]);
    const plans = new Map(catalogue.ads.map((ad) => [ad.gid, [ad.platform, "plan", ad.gid, ad.gidName]]));
    const named = [...ads, ...plans.values()];
    await this.post("ad-object/import", { csv: csv(["ad_platform", "level", "id", "name"], named) });
    await this.post("attribution/rules", { app_id, rules: { ...rules, datacentres: DATACENTRES.join(",") } });
  }

  async importCosts(costs: readonly CostRow[]): Promise<void> {
    const rows = costs.map((row) => [
      ...[row.day, row.ad_platform, row.advertiser_id, row.gid, row.aid, row.channel, row.turbo_promoted_object_id],
      ...[row.impressions, row.clicks, (row.costE4 / 10_000).toFixed(4)],
    ]);
    const columns = ["date", "ad_platform", "advertiser_id", "gid", "aid", "channel", "turbo_promoted_object_id"];
    await this.post("cost/import", {
      app_id: this.app.appId,
      csv: csv([...columns, "impressions", "clicks", "cost"], rows),
    });
  }

  /** Pulls what ads inside the app earned. Days include both ends. */
  async pullRevenue(platform: string, { from, to }: { from: string; to: string }): Promise<void> {
    const { accounts } = await this.post<{ accounts: { error: string }[] }>("cost/pull", {
      app_id: this.app.appId,
      ad_platform: platform,
      from,
      to,
    });
    for (const { error } of accounts) if (error !== "") throw new Error(error);
  }

  /** Stores accounts directly in the database. */
  async storeAccounts(accounts: readonly PlatformAccount[], atMs: number): Promise<void> {
    const { dataDir } = this.#server;
    const connection = embeddedConnection(dataDir);
    if (!connection) throw new Error(`${dataDir} has no database of its own.`);
    const pool = openPool(connection, { log: createLog("error"), connectionsMax: 1, name: "market" });
    const vault = openVault({ dataDir, secretKey: "" });
    try {
      for (const account of accounts) await storeAccount(pool, vault, account, atMs);
    } finally {
      await pool.end();
    }
  }

  /** A one-time link that sets the password of the console's admin. */
  async setupLink(url: string): Promise<string> {
    return `${url}${(await cli(this.#server, ["admin", "link"])).trim()}`;
  }

  /** The key of a developer application without an effective rate limit. */
  async developerKey(): Promise<string> {
    const rate = { rate_calls: 1_000, rate_window_s: 1 };
    const { id } = await this.post<{ id: number }>("developers/create", {
      name: "Market",
      apps: [this.app.appId],
      ...rate,
    });
    return (await this.post<{ app_key: string }>("developers/decide", { id, state: "approved" })).app_key;
  }

  /** Waits until these users are attributed to a platform; the score reports those who never are. */
  async attributed(clientIds: readonly string[], platform: string): Promise<void> {
    const url = `${this.#server.url}/event_center/api/v1/user/get/?access_token=${this.app.accessToken}`;
    const startedMs = elapsedMs();
    for (let left = [...clientIds]; left.length > 0 && elapsedMs() - startedMs < ATTRIBUTED_MS_MAX; await sleep(100)) {
      const asked = left.slice(0, USERS_AT_ONCE);
      const response = await fetch(url, { method: "POST", body: JSON.stringify({ user_list: asked }) });
      const { data } = (await response.json()) as {
        data: { user_list: { client_id: string; click_company: string }[] };
      };
      const there = new Set(data.user_list.filter((one) => one.click_company === platform).map((one) => one.client_id));
      left = left.filter((clientId) => !there.has(clientId));
    }
  }

  async post<T>(path: string, body: object): Promise<T> {
    return this.#call<T>(path, { method: "POST", body: JSON.stringify(body) });
  }

  async get<T>(path: string, query: Record<string, string>): Promise<T> {
    return this.#call<T>(`${path}?${new URLSearchParams(query)}`, { method: "GET" });
  }

  /** All stored events, one per line. */
  async exportEvents(days: { from: string; to: string }): Promise<string[]> {
    const body = JSON.stringify({ app_id: this.app.appId, kind: "events", ...days });
    const response = await this.#fetch("export", { method: "POST", body });
    return (await response.text()).split("\n").filter((line) => line !== "");
  }

  async #call<T>(path: string, init: { method: string; body?: string }): Promise<T> {
    const answer = (await (await this.#fetch(path, init)).json()) as { code: number; msg: string; data: T };
    if (answer.code !== 0) throw new Error(`${path} was answered ${answer.code}: ${answer.msg}`);
    return answer.data;
  }

  #fetch(path: string, init: { method: string; body?: string }): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#adminToken}`, "content-type": "application/json" };
    const whole = init.body === undefined ? { authorization: headers.authorization } : headers;
    return fetch(`${this.#server.url}/admin/api/v1/${path}`, { ...init, headers: whole });
  }
}

const APPLY_MS_MAX = 300_000;

/** Waits until everything acknowledged is in the tables. */
export async function applied(url: string): Promise<void> {
  const startedMs = elapsedMs();
  const position = async () =>
    ((await (await fetch(`${url}/progress`)).json()) as { data: { durable: number; applied: number } }).data;
  const { durable } = await position();
  while ((await position()).applied < durable) {
    if (elapsedMs() - startedMs > APPLY_MS_MAX) throw new Error("The server did not finish applying in time.");
    await sleep(20);
  }
}

function csv(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((cells) => `${cells.join(",")}\n`).join("");
}

function cli({ dataDir }: RunningServer, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [builtScript("bundle/cli.js"), ...args], {
    env: { ...plainEnvironment(), DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
  });
  return new Promise((resolve, reject) => {
    child.once("exit", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${args.join(" ")} ended with ${code}.`)),
    );
  });
}
