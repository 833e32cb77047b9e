import { Agent, type IncomingMessage, request } from "node:http";

export type Call = { method?: string; headers?: Record<string, string>; body?: string | Uint8Array };

/** How long an idle connection is kept: the server closes it much later, so that none is closed while a call begins. */
const IDLE_MS = 2_000;
const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });

/** An answer of any type. */
export type Reply = { status: number; headers: Headers; text: string };

/** A request as `fetch` would make it, for half of its processor time: a run makes tens of thousands. */
export function replyTo(url: string, { method = "GET", headers, body }: Call = {}): Promise<Reply> {
  const type = typeof body === "string" ? { "content-type": "text/plain;charset=UTF-8" } : {};
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers: { accept: "*/*", "user-agent": "node", ...type, ...headers } });
    sent.on("error", reject);
    sent.on("response", (response) => replyIn(response).then(resolve, reject));
    sent.end(body);
  });
}

/** The envelope of every answer; what it holds is the caller's to know. */
export type Envelope<T> = { code: number; msg: string; data: T; extra: { errors?: unknown } };

/** A request that is answered with the envelope. */
export async function callFor<T>(url: string, sent: Call = {}): Promise<{ status: number } & Envelope<T>> {
  const { status, text } = await replyTo(url, sent);
  return { status, ...(JSON.parse(text) as Envelope<T>) };
}

async function replyIn(response: IncomingMessage): Promise<Reply> {
  let text = "";
  for await (const piece of response.setEncoding("utf8")) text += piece;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(response.headersDistinct))
    for (const value of values) headers.append(name, value);
  return { status: response.statusCode!, headers, text };
}
