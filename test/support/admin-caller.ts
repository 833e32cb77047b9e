import type pg from "pg";
import { type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect } from "vitest";
import { adminToken } from "../../src/admin/session/admin-token.ts";
import { envelopeSchema } from "../../src/contract/envelope.ts";
import { createAdminUser, removeAdminUser } from "../../src/db/admin-user.ts";
import { createSession, endSession } from "../../src/db/console-session.ts";
import { everywhere, type Grants, type Role } from "../../src/domain/access/role.ts";
import { CSRF_HEADER, csrfTokenOf } from "../../src/http/admin/authentication.ts";
import { openVault } from "../../src/vault.ts";
import { call } from "./call.ts";
import { eventually } from "./patience.ts";
import type { Answer, Touchpoint } from "./touchpoint.ts";

type Row = Record<string, any>;
type Headers = Record<string, string>;

/** The path of the admin interface. */
export const ADMIN = "/admin/api/v1";

/** Refusals of operations that the server does for a few callers at a time: other tests may be using them. */
const BUSY_WITH_OTHERS = /exports are running|Another dry run is in progress|Too many previews are running/;

/** Calls the admin interface, with its token unless other headers are given. */
export class AdminCaller {
  readonly #server: Touchpoint;
  readonly #headers: Headers;

  constructor(server: Touchpoint, headers: Headers = { authorization: `Bearer ${adminTokenOf(server)}` }) {
    this.#server = server;
    this.#headers = headers;
  }

  get headers(): Headers {
    return this.#headers;
  }

  get(path: string, query: Row = {}): Promise<Answer> {
    return this.send("GET", path, query);
  }

  post(path: string, body: Row | string): Promise<Answer> {
    return this.send("POST", path, body);
  }

  /** Sends a query for a GET and a body for everything else; a text is sent as it is. */
  async send(method: string, path: string, sent: Row | string): Promise<Answer> {
    return eventually(async () => {
      const answer = await this.#sendOnce(method, path, sent);
      expect(answer.status === 503 ? answer.msg : "").not.toMatch(BUSY_WITH_OTHERS);
      return answer;
    });
  }

  async #sendOnce(method: string, path: string, sent: Row | string): Promise<Answer> {
    const isGet = method === "GET";
    const query = isGet ? `?${new URLSearchParams(sent)}` : "";
    const body = isGet ? {} : { body: typeof sent === "string" ? sent : JSON.stringify(sent) };
    return call(`${this.#server.url}${ADMIN}/${path}${query}`, { method, headers: this.headers, ...body });
  }
}

/** A person of the console, who signs in without typing a password. */
export class ConsoleUser extends AdminCaller {
  readonly name: string;
  readonly #server: Touchpoint;
  readonly #grants: Grants;
  #session = "";

  constructor(server: Touchpoint, role: Role, grants: Grants = everywhere(role)) {
    super(server, {});
    this.#server = server;
    this.#grants = grants;
    this.name = `${role} ${Math.random().toString(36).slice(2)}`;
  }

  override get headers(): Headers {
    return {
      cookie: `touchpoint_session=${this.#session}`,
      [CSRF_HEADER]: csrfTokenOf(vaultOf(this.#server), this.#session),
    };
  }

  /** `external` is the database if it is not the server's own. */
  async signIn(external?: pg.Pool): Promise<this> {
    await this.#inDatabase(async (pool) => {
      const made = { name: this.name, grants: this.#grants, passwordHash: "none", nowMs: Date.now() };
      const user = await createAdminUser(pool, made);
      this.#session = await createSession(pool, user!, Date.now());
    }, external);
    return this;
  }

  async signOut(): Promise<void> {
    await this.#inDatabase((pool) => endSession(pool, this.#session));
  }

  async remove(): Promise<void> {
    await this.#inDatabase((pool) => removeAdminUser(pool, this.name));
  }

  async #inDatabase(work: (pool: pg.Pool) => Promise<unknown>, external?: pg.Pool): Promise<void> {
    const pool = external ?? this.#server.database();
    await work(pool).finally(() => pool !== external && pool.end());
  }
}

/** A person who is signed in while the tests of a file run. */
export function consoleUser(server: Touchpoint, role: Role): ConsoleUser {
  const user = new ConsoleUser(server, role);
  beforeAll(async () => void (await user.signIn()));
  afterAll(() => user.remove());
  return user;
}

export function adminTokenOf(server: Touchpoint): string {
  return adminToken(vaultOf(server));
}

function vaultOf({ dataDir }: Touchpoint) {
  return openVault({ dataDir, secretKey: "" });
}

/**
 * The data of a successful answer that matches the contract exactly: nothing missing, nothing of another type, nothing more.
 * The contract describes some answers whole, and only the data of others.
 */
export function dataOf({ status, headers: _, ...answer }: Answer, schema: TSchema = Type.Unknown()): any {
  expect({ status, code: answer.code, msg: answer.msg }).toEqual({ status: 200, code: 0, msg: "success" });
  const whole = "msg" in ((schema as Row).properties ?? {}) ? schema : envelopeSchema(schema);
  expect([...Value.Errors(whole, answer)]).toEqual([]);
  expect(Value.Clean(whole, structuredClone(answer)), "fields that the contract does not name").toEqual(answer);
  return answer.data;
}

export const refused = (msg: RegExp, code = 1004) => ({
  status: 200,
  code,
  data: {},
  msg: expect.stringMatching(msg),
});
