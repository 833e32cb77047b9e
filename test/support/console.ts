import type pg from "pg";
import { type ConsoleRole, createAdminUser, removeAdminUser } from "../../src/db/admin-user.ts";
import { createSession, endSession } from "../../src/db/console-session.ts";
import { CSRF_HEADER, csrfTokenOf } from "../../src/http/admin.ts";
import { openVault } from "../../src/vault.ts";
import { type Answer, answerOf, type Touchpoint } from "./touchpoint.ts";

/** Somebody signed in to the console of a server, without a password having been typed. */
export class ConsoleUser {
  readonly name: string;
  readonly #server: Touchpoint;
  readonly #token: string;

  private constructor(server: Touchpoint, name: string, token: string) {
    this.#server = server;
    this.name = name;
    this.#token = token;
  }

  /** `external` is the database where that is not the server's own. */
  static async signIn(server: Touchpoint, role: ConsoleRole, external?: pg.Pool): Promise<ConsoleUser> {
    const pool = external ?? server.database();
    const name = `${role} ${Math.random().toString(36).slice(2)}`;
    const user = await createAdminUser(pool, { name, role, passwordHash: "none", nowMs: Date.now() });
    const token = await createSession(pool, user!, Date.now());
    if (!external) await pool.end();
    return new ConsoleUser(server, name, token);
  }

  get headers(): Record<string, string> {
    const vault = openVault({ dataDir: this.#server.dataDir, secretKey: "" });
    return { cookie: `touchpoint_session=${this.#token}`, [CSRF_HEADER]: csrfTokenOf(vault, this.#token) };
  }

  async get(path: string, query: Record<string, string | number> = {}): Promise<Answer> {
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return answerOf(await fetch(`${this.#server.url}/admin/api/v1/${path}?${search}`, { headers: this.headers }));
  }

  async post(path: string, body: object): Promise<Answer> {
    const init = { method: "POST", headers: this.headers, body: JSON.stringify(body) };
    return answerOf(await fetch(`${this.#server.url}/admin/api/v1/${path}`, init));
  }

  async signOut(): Promise<void> {
    await this.#inDatabase((pool) => endSession(pool, this.#token));
  }

  async remove(): Promise<void> {
    await this.#inDatabase((pool) => removeAdminUser(pool, this.name));
  }

  async #inDatabase(work: (pool: ReturnType<Touchpoint["database"]>) => Promise<unknown>): Promise<void> {
    const pool = this.#server.database();
    await work(pool).finally(() => pool.end());
  }
}
