import { type Call, replyTo } from "../../sim/call.ts";

export { type Call, type Reply, replyTo } from "../../sim/call.ts";

export type Answer = { status: number; headers: Headers; code: number; msg: string; data: any; extra: any };

/** A request that is answered with the envelope. */
export async function call(url: string, sent: Call = {}): Promise<Answer> {
  const { status, headers, text } = await replyTo(url, sent);
  return { status, headers, ...JSON.parse(text) };
}
