import { adminToken } from "../../src/http/admin.ts";
import { openVault } from "../../src/vault.ts";
import { type Answer, answerOf, type Touchpoint } from "./touchpoint.ts";

type Sent = Record<string, unknown>;

/** Calls the admin interface as whoever holds the admin token. */
export class AdminClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(server: Touchpoint) {
    this.#url = `${server.url}/admin/api/v1`;
    this.#headers = {
      authorization: `Bearer ${adminToken(openVault({ dataDir: server.dataDir, secretKey: "" }))}`,
    };
  }

  async get(path: string, query: Record<string, string | number>): Promise<Answer> {
    const texts = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
    return answerOf(await fetch(`${this.#url}/${path}?${new URLSearchParams(texts)}`, { headers: this.#headers }));
  }

  async post(path: string, body: Sent): Promise<Answer> {
    const init = { method: "POST", headers: this.#headers, body: JSON.stringify(body) };
    return answerOf(await fetch(`${this.#url}/${path}`, init));
  }
}
