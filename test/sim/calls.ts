import { expect } from "vitest";
import type { StandIn } from "../../sim/platforms/stand-in.ts";

/** A moment in 2025, so that nothing depends on the day of the test. */
export const NOW_MS = 1_760_000_000_000;
export const NOW_SECONDS = NOW_MS / 1000;

export type Reply = { status: number; json: any; headers: Headers };

export async function get(url: string, headers: Record<string, string> = {}): Promise<Reply> {
  return replyOf(await fetch(url, { headers }));
}

export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  return replyOf(
    await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );
}

async function replyOf(response: Response): Promise<Reply> {
  return { status: response.status, json: await response.json(), headers: response.headers };
}

/** A copy with one field, named by its path, changed; undefined removes it. */
export function but<Body extends object>(body: Body, path: string, value: unknown): Body {
  const copy = structuredClone(body);
  const names = path.split(".");
  const last = names.pop()!;
  let at = copy as any;
  for (const name of names) at = at[name] ??= {};
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

/** Checks that nothing was counted, and that the last refusal says why. */
export function expectRefused(standIn: StandIn, reason: RegExp): void {
  expect(standIn.accepted).toEqual([]);
  expect(standIn.refused.at(-1)?.reason).toMatch(reason);
}

export function queryOf(values: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) query.set(name, String(value));
  return query.toString();
}

/** A query with one parameter changed; undefined removes it. */
export function changed(values: Record<string, string | number>, name: string, value: string | number | undefined) {
  const { [name]: _, ...rest } = values;
  return value === undefined ? rest : { ...rest, [name]: value };
}
