import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "../../src/clock.ts";
import { parameter, Refusal } from "./call.ts";

export const randomText = (): string => randomBytes(16).toString("hex");

type Token = { text: string; expiresAtMs: number };

export type TokenOptions = {
  clock?: Clock | undefined;
  accessSeconds: number;
  refreshSeconds?: number;
  /** Whether a refresh replaces the refresh token or keeps it. */
  refreshToken: "replaced" | "kept";
};

/** The token pair of an authorised account. A refresh ends the previous access token. */
export class Tokens {
  readonly #options: Required<TokenOptions>;
  readonly #past = new Set<string>();
  #access: Token;
  #refresh: Token;

  constructor(options: TokenOptions) {
    this.#options = { refreshSeconds: 30 * 86_400, ...options, clock: options.clock ?? systemClock };
    this.#access = this.#issue(this.#options.accessSeconds);
    this.#refresh = this.#issue(this.#options.refreshSeconds);
  }

  get accessToken(): string {
    return this.#access.text;
  }

  get refreshToken(): string {
    return this.#refresh.text;
  }

  get accessExpiresAtMs(): number {
    return this.#access.expiresAtMs;
  }

  get refreshExpiresAtMs(): number {
    return this.#refresh.expiresAtMs;
  }

  /** Ends the access token now, as if it had expired. */
  expire(): void {
    this.#access.expiresAtMs = this.#options.clock();
  }

  assert(token: string | undefined, codes: { unknown?: number; expired?: number } = {}): void {
    if (token === undefined || token === "") throw new Refusal("access_token is missing", codes.unknown);
    if (this.#past.has(token) || (token === this.#access.text && this.#access.expiresAtMs <= this.#options.clock()))
      throw new Refusal("access_token has expired", codes.expired);
    if (token !== this.#access.text) throw new Refusal("access_token is invalid", codes.unknown);
  }

  refresh(token: string, codes: { unknown?: number; expired?: number } = {}): void {
    if (token !== this.#refresh.text) throw new Refusal("refresh_token is invalid", codes.unknown);
    if (this.#refresh.expiresAtMs <= this.#options.clock())
      throw new Refusal("refresh_token has expired", codes.expired);
    this.renew();
    if (this.#options.refreshToken === "replaced") this.#refresh = this.#issue(this.#options.refreshSeconds);
    else this.#refresh.expiresAtMs = this.#options.clock() + this.#options.refreshSeconds * 1000;
  }

  /** Issues a new pair to somebody who has authorised us once more, and ends the old one. */
  grant(): void {
    this.renew();
    this.#refresh = this.#issue(this.#options.refreshSeconds);
  }

  /** Issues a new access token and ends the old one. */
  renew(): void {
    this.#past.add(this.#access.text);
    this.#access = this.#issue(this.#options.accessSeconds);
  }

  #issue(seconds: number): Token {
    return { text: randomText(), expiresAtMs: this.#options.clock() + seconds * 1000 };
  }
}

/** The developer application on whose behalf tokens are refreshed. */
export type OAuthClient = { clientId: string; clientSecret: string };

export function clientOf({ clientId = randomText(), clientSecret = randomText() }: Partial<OAuthClient>): OAuthClient {
  return { clientId, clientSecret };
}

export function assertClient(query: URLSearchParams, client: OAuthClient, code?: number): void {
  if (parameter(query, "client_id") !== client.clientId || parameter(query, "client_secret") !== client.clientSecret)
    throw new Refusal("client_id or client_secret is wrong", code);
}

/** Accepts each nonce once. */
export class Nonces {
  readonly #seen = new Set<string>();

  assert(nonce: string | undefined, code?: number): void {
    if (nonce === undefined || nonce === "") throw new Refusal("nonce is missing", code);
    if (nonce.length > 32) throw new Refusal("nonce has more than 32 characters", code);
    if (this.#seen.has(nonce)) throw new Refusal("nonce was used before", code);
    this.#seen.add(nonce);
  }
}

/** Allows a number of calls in a fixed span of time. */
export class Pace {
  readonly limit: number;
  readonly #windowMs: number;
  #startedMs = 0;
  #used = 0;

  constructor({ limit, windowMs }: { limit: number; windowMs: number }) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  take(nowMs: number): { isOver: boolean; remaining: number; resetSeconds: number } {
    if (nowMs >= this.#startedMs + this.#windowMs) {
      this.#startedMs = nowMs;
      this.#used = 0;
    }
    const isOver = this.#used >= this.limit;
    if (!isOver) this.#used += 1;
    const resetSeconds = Math.ceil((this.#startedMs + this.#windowMs - nowMs) / 1000);
    return { isOver, remaining: this.limit - this.#used, resetSeconds };
  }
}
