import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { App } from "../../src/db/app.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cliJson } from "./run.ts";

const calendar = calendarOf("Asia/Shanghai");

/** The current day; reports also include the next one, in case midnight passes during the tests. */
export const today = calendar.dayOf(Date.now());
export const range = ["--from", today, "--to", calendar.dayOf(Date.now() + 86_400_000)];

export const pay = ($order_id: string, $pay_amount: number) => ({
  type: "track",
  event: "$PayEvent",
  time: Date.now(),
  properties: { $order_id, $pay_amount, $pay_type: "CNY" },
});

/** An app with two users, two orders and two costs, and a developer application that may read it. */
export class ReportStage {
  readonly server = sharedServer();
  readonly dataDir = this.server.dataDir;
  readonly #folder = mkdtempSync(join(tmpdir(), "touchpoint-reports-"));
  app!: App;
  appKey!: string;

  constructor() {
    beforeAll(() => this.#fill());
    afterAll(() => rmSync(this.#folder, { recursive: true }));
  }

  ofApp(): string[] {
    return ["--app", String(this.app.appId)];
  }

  signed(): string[] {
    return [...this.ofApp(), "--app-key", this.appKey];
  }

  fileOf(name: string, text: string): string {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }

  async #fill(): Promise<void> {
    const { server, dataDir } = this;
    this.app = await server.createApp();
    const made = ["developer", "create", "--name", "BI", "--apps", "all", "--rate", "1000/1", "--approve"];
    this.appKey = (await cliJson(dataDir, made)).app_key;
    await server.register(this.app, "u1", { name: "=1+1", channel: "store" });
    await server.register(this.app, "u2", { channel: "web" });
    await server.collect(this.app, "u1", [pay("o-1", 1_000), pay("o-2", 500)]);
    const costs = `date,ad_platform,advertiser_id,cost\n${today},gdt,acc,4\n${today},kuaishou,,1\n`;
    const file = this.fileOf("costs.csv", costs);
    expect(await cliJson(dataDir, ["cost", "import", file, ...this.ofApp()])).toEqual({ rows: 2 });
    await cliJson(dataDir, ["settle"]);
  }
}
