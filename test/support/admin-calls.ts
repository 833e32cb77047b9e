import { randomUUID } from "node:crypto";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { expect } from "vitest";
import { adminToken } from "../../src/http/admin.ts";
import { openVault } from "../../src/vault.ts";
import { type Answer, answerOf, type Touchpoint } from "./touchpoint.ts";

const ADMIN = "/admin/api/v1";
type Row = Record<string, any>;
type Headers = Record<string, string>;

/** Calls the admin interface, with the admin token unless somebody else is named. */
export class AdminCalls {
  readonly #server: Touchpoint;
  readonly #headers: Headers;

  constructor(server: Touchpoint, headers: Headers = { authorization: `Bearer ${tokenOf(server)}` }) {
    this.#server = server;
    this.#headers = headers;
  }

  get(path: string, query: Row = {}): Promise<Answer> {
    return this.#ask(`${path}?${new URLSearchParams(query)}`, { headers: this.#headers });
  }

  post(path: string, body: Row): Promise<Answer> {
    return this.#ask(path, { method: "POST", headers: this.#headers, body: JSON.stringify(body) });
  }

  /** Somebody who may look at everything and change nothing. */
  async analyst(): Promise<AdminCalls> {
    const name = `analyst-${randomUUID()}`;
    const made = await this.post("console-users/create", { name, role: "analyst" });
    const setup = { token: made.data.setup_token, password: "correct horse battery" };
    const session = await new AdminCalls(this.#server, {}).post("session/setup", setup);
    const [cookie] = session.headers.getSetCookie();
    return new AdminCalls(this.#server, { cookie: cookie!.split(";")[0]!, "touchpoint-csrf": session.data.csrf });
  }

  async #ask(path: string, init: RequestInit): Promise<Answer> {
    return answerOf(await fetch(`${this.#server.url}${ADMIN}/${path}`, init));
  }
}

/** The data of an answer that succeeded, and that is what its schema says. */
export async function dataOf(answering: Promise<Answer>, schema: TSchema): Promise<any> {
  const { status, headers: _, ...answer } = await answering;
  expect({ status, code: answer.code, msg: answer.msg }).toEqual({ status: 200, code: 0, msg: "success" });
  expect(Value.Errors(schema, answer)).toEqual([]);
  return answer.data;
}

function tokenOf({ dataDir }: Touchpoint): string {
  return adminToken(openVault({ dataDir, secretKey: "" }));
}
