import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import type { Session } from "../../src/contract/setting/session.ts";

const BASE = "/admin/api/v1/";
const CSRF_HEADER = "touchpoint-csrf";

/** The code for a missing or ended session: the user has to sign in. */
const NOT_SIGNED_IN = 2002;
/** The code for a missing second factor. */
const SECOND_FACTOR = 2008;
const UNREACHABLE = -1;

export type { Session };
export const SESSION_KEY = ["session"] as const;

/** A refusal by the server, with the server's own message. */
export class ApiFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }

  get isNotSignedIn(): boolean {
    return this.code === NOT_SIGNED_IN;
  }

  /** The password is right, and the second factor is missing. */
  get needsCode(): boolean {
    return this.code === SECOND_FACTOR;
  }

  get isUnreachable(): boolean {
    return this.code === UNREACHABLE;
  }
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export function addressOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `${BASE}${path}${search && `?${search}`}`;
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return dataOf<T>(await send(addressOf(path, query), signal ? { signal } : {}));
}

export async function post<T>(path: string, body: object, signal?: AbortSignal): Promise<T> {
  return dataOf<T>(await postForStream(path, body, signal));
}

/** Returns the body unread, for answers that are read piece by piece. Refusals still arrive as an envelope. */
export async function postForStream(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json", ...csrfHeader() };
  return send(addressOf(path), {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

/** Sends a file as plain CSV: inside JSON the server would have to read it in one go. */
export async function postFile<T>(path: string, query: Query, csv: string): Promise<T> {
  const headers = { "content-type": "text/csv; charset=utf-8", ...csrfHeader() };
  return dataOf<T>(await send(addressOf(path, query), { method: "POST", headers, body: csv }));
}

function csrfHeader(): Record<string, string> {
  return { [CSRF_HEADER]: queries.getQueryData<Session | null>(SESSION_KEY)?.csrf ?? "" };
}

async function send(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiFailure(UNREACHABLE, "The server cannot be reached.");
  }
}

export async function dataOf<T>(response: Response): Promise<T> {
  const envelope = (await response.json().catch(() => {
    throw new ApiFailure(response.status, `The server answered with status ${response.status} and no envelope.`);
  })) as { code: number; msg: string; data: T };
  if (envelope.code !== 0) throw new ApiFailure(envelope.code, envelope.msg);
  return envelope.data;
}

/**
 * Shows the sign-in page wherever an ended session is noticed. It fetches the session again instead of assuming that it has
 * ended, because a wrong current password is refused with the same code.
 */
function onError(error: unknown): void {
  if (error instanceof ApiFailure && error.isNotSignedIn && queries.getQueryData(SESSION_KEY)) {
    void queries.invalidateQueries({ queryKey: SESSION_KEY });
  }
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // Refusals are final; only an unreachable server is asked again.
      retry: (count, error) => count < 2 && error instanceof ApiFailure && error.isUnreachable,
      refetchOnWindowFocus: false,
    },
  },
});
