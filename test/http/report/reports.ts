import { expect } from "vitest";
import { signedRequest } from "../../../src/client/report-client.ts";
import type { App } from "../../../src/db/app.ts";
import {
  createDeveloperApp,
  type DeveloperApp,
  decideDeveloperApp,
  type RateLevel,
} from "../../../src/db/developer-app.ts";
import type { DeveloperState } from "../../../src/domain/access/developer-state.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { openVault, type Vault } from "../../../src/vault.ts";
import { AdminCaller } from "../../support/admin-caller.ts";
import { call } from "../../support/call.ts";
import { eventually } from "../../support/patience.ts";
import type { Answer, Touchpoint } from "../../support/touchpoint.ts";
import { DAY_MS, type Row } from "../fixture.ts";

export const REPORT_BASE = "/openapi/api/v1/report";
export const AGE_HEADER = "touchpoint-data-age";

/** More than any test calls. */
const GENEROUS: RateLevel = { calls: 100_000, windowS: 600 };

export type DeveloperOptions = {
  apps?: "all" | number[];
  rate?: RateLevel;
  state?: DeveloperState;
  reason?: string;
};

export const dayOf = (ms: number): string => calendarOf("Asia/Shanghai").dayOf(ms);

/** From yesterday on, in case midnight passes during the tests. */
export const recentDays = (): [string, string] => [dayOf(Date.now() - DAY_MS), dayOf(Date.now() + DAY_MS)];

/** A valid ad report request with only the required fields. */
export function adReportOf(app: Pick<App, "appId">, more: Row = {}): Row {
  return {
    app_id: app.appId,
    date_list: recentDays(),
    metrics_list: ["AdCost", "AppActivateStandard"],
    dims_list: ["date"],
    statistics_caliber: "user_activated_time",
    decimal_point: 2,
    ...more,
  };
}

export function listOf(app: Pick<App, "appId">, more: Row = {}): Row {
  return { app_id: app.appId, user_filtering: {}, event_filtering: {}, ...more };
}

/** Pulls reports, and does an admin's work for them. */
export class Reports {
  readonly #server: Touchpoint;
  readonly #vault: Vault;

  constructor(server: Touchpoint) {
    this.#server = server;
    this.#vault = openVault({ dataDir: server.dataDir, secretKey: "" });
  }

  /** A developer application, approved and with room for every call unless told otherwise. */
  async developer(options: DeveloperOptions = {}): Promise<DeveloperApp> {
    const { apps = "all", rate = GENEROUS, state = "approved", reason = "" } = options;
    const made = { name: "BI", purpose: "tests", apps, rate, createdAtMs: Date.now() };
    const developer = await createDeveloperApp(this.#server.pool, this.#vault, made);
    if (state !== "requested") {
      await decideDeveloperApp(this.#server.pool, { ...developer, state, reason, decidedAtMs: Date.now() });
    }
    return developer;
  }

  /** Makes a call, signed as the published client does. */
  call(developer: Pick<DeveloperApp, "appKey">, path: string, body: Row): Promise<Answer> {
    const { body: text, authorization } = signedRequest(body, developer.appKey);
    return this.send(path, text, { authorization });
  }

  send(path: string, body: string, headers: Record<string, string>): Promise<Answer> {
    return call(`${this.#server.url}${REPORT_BASE}/${path}`, { method: "POST", headers, body });
  }

  /** Waits until an app's reports of either caliber hold this many users, each active on the day of registration. */
  async counted(developer: DeveloperApp, app: App, users: number): Promise<void> {
    const metrics_list = ["AppActivateStandard", "AppDAU"];
    for (const statistics_caliber of ["user_activated_time", "behavior_occurred_time"]) {
      const body = () => adReportOf(app, { metrics_list, statistics_caliber });
      await eventually(async () => {
        const { total } = (await this.call(developer, "combo_sql", body())).data;
        expect(total).toEqual([{ AppActivateStandard: users, AppDAU: users }]);
      });
    }
  }

  /** Makes an admin call. */
  async admin(path: string, body: Row): Promise<Answer> {
    const answer = await new AdminCaller(this.#server).post(path, body);
    if (answer.code !== 0) throw new Error(answer.msg);
    return answer;
  }

  /** Imports costs of an app from a file, as the admin sends it. */
  async takeInCosts(app: Pick<App, "appId">, lines: readonly string[]): Promise<void> {
    const { data } = await this.admin("cost/import", { app_id: app.appId, csv: lines.join("\n") });
    if (data.rows !== lines.length - 1) throw new Error(`${data.rows} rows were taken in.`);
  }
}
