import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect } from "vitest";
import { createAdminUser, removeAdminUser } from "../../src/db/admin-user.ts";
import { createSession } from "../../src/db/console-session.ts";
import { adminToken, CSRF_HEADER, csrfTokenOf } from "../../src/http/admin.ts";
import { openVault } from "../../src/vault.ts";
import { type Answer, answerOf, type Touchpoint } from "../support/touchpoint.ts";
import type { Row } from "./fixture.ts";

const BASE = "/admin/api/v1";

/** Calls the admin interface: as its token's holder, or as an analyst who is signed in to the console. */
export class AdminCaller {
  readonly #server: Touchpoint;
  readonly #token: Record<string, string>;
  #analyst: Record<string, string> = {};

  constructor(server: Touchpoint) {
    this.#server = server;
    const vault = openVault({ dataDir: server.dataDir, secretKey: "" });
    this.#token = { authorization: `Bearer ${adminToken(vault)}` };
    const pool = server.database();
    const name = `analyst ${Math.random()}`;
    beforeAll(async () => {
      const user = await createAdminUser(pool, { name, role: "analyst", passwordHash: "none", nowMs: Date.now() });
      const session = await createSession(pool, user!, Date.now());
      this.#analyst = { cookie: `touchpoint_session=${session}`, [CSRF_HEADER]: csrfTokenOf(vault, session) };
    });
    afterAll(async () => {
      await removeAdminUser(pool, name);
      await pool.end();
    });
  }

  get(path: string, query: Row = {}): Promise<Answer> {
    return this.#call(`${path}?${new URLSearchParams(query)}`, { headers: this.#token });
  }

  post(path: string, body: Row): Promise<Answer> {
    return this.#call(path, { method: "POST", headers: this.#token, body: JSON.stringify(body) });
  }

  getAsAnalyst(path: string, query: Row = {}): Promise<Answer> {
    return this.#call(`${path}?${new URLSearchParams(query)}`, { headers: this.#analyst });
  }

  postAsAnalyst(path: string, body: Row): Promise<Answer> {
    return this.#call(path, { method: "POST", headers: this.#analyst, body: JSON.stringify(body) });
  }

  async #call(path: string, init: RequestInit): Promise<Answer> {
    return answerOf(await fetch(`${this.#server.url}${BASE}/${path}`, init));
  }
}

/** The answer succeeded, and its data is what the contract says: nothing missing, nothing of another type, nothing more. */
export function dataOf(answer: Answer, schema: TSchema): any {
  expect(answer, answer.msg).toMatchObject({ status: 200, code: 0, msg: "success" });
  expect([...Value.Errors(schema, answer.data)]).toEqual([]);
  expect(Value.Clean(schema, structuredClone(answer.data)), "fields that the contract does not name").toEqual(
    answer.data,
  );
  return answer.data;
}

export const refused = (msg: RegExp, code = 1004) => ({
  ...{ status: 200, code, data: {} },
  msg: expect.stringMatching(msg),
});
