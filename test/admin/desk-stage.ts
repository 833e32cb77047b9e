import type pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import type { By, Desk } from "../../src/admin/desk.ts";
import { migratedDatabase, type TempDatabase, vault } from "../db/temp-database.ts";

const BY: By = { name: "mei", address: "10.0.0.9" };
const NOW_MS = 1_700_000_000_000;

/** A database of its own, and a desk in front of it. */
export class DeskStage {
  #database: TempDatabase | undefined;

  constructor() {
    beforeAll(async () => {
      this.#database = await migratedDatabase();
    });
    afterAll(() => this.#database?.drop());
  }

  get pool(): pg.Pool {
    return this.#database!.pool;
  }

  get desk(): Desk {
    return { pool: this.pool, vault, clock: () => NOW_MS, by: BY };
  }

  /** The whole audit log, oldest entry first. */
  async audit(): Promise<{ action: string; appId: number | null; details: object }[]> {
    const { rows } = await this.pool.query(
      `select actor, address, at_ms as "atMs", action, app_id as "appId", details from audit_log order by audit_id`,
    );
    return rows.map(({ actor, address, atMs, ...entry }) => {
      expect({ actor, address, atMs }).toEqual({ actor: BY.name, address: BY.address, atMs: NOW_MS });
      return entry;
    });
  }

  async count(table: string): Promise<number> {
    const { rows } = await this.pool.query<{ count: number }>(`select count(*) from ${table}`);
    return rows[0]!.count;
  }

  /** Runs `work` while no entry of the audit log can be written. */
  async withoutAuditLog(work: () => Promise<void>): Promise<void> {
    await this.pool.query("alter table audit_log rename to audit_log_elsewhere");
    try {
      await work();
    } finally {
      await this.pool.query("alter table audit_log_elsewhere rename to audit_log");
    }
  }
}
