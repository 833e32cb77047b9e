/** A client of the admin interface, with its token. */
export class AdminDoor {
  readonly token: string;
  readonly #url: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.token = token;
  }

  async post<T>(path: string, body: object): Promise<T> {
    const text = await this.text(path, body);
    const { code, msg, data } = JSON.parse(text) as { code: number; msg: string; data: T };
    if (code !== 0) throw new Error(`${path} was answered ${code}: ${msg}`);
    return data;
  }

  /** The raw answer, such as a file. */
  async text(path: string, body: object): Promise<string> {
    return (await this.#send(path, body, { authorization: `Bearer ${this.token}` })).text();
  }

  /** Sets a password with a one-time token. */
  async setUp(body: { token: string; name?: string; password: string }): Promise<void> {
    const { code, msg } = (await (await this.#send("session/setup", body, {})).json()) as { code: number; msg: string };
    if (code !== 0) throw new Error(`The password could not be set: ${msg}`);
  }

  #send(path: string, body: object, headers: Record<string, string>): Promise<Response> {
    return fetch(`${this.#url}/admin/api/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }
}
