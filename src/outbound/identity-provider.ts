import * as oidc from "openid-client";
import { elapsedMs } from "../clock.ts";
import type { OidcSettings } from "../config.ts";
import { callable } from "../domain/network.ts";
import { ApiError, messageOf } from "../errors.ts";
import type { HttpRequest } from "../platform/connector/connector.ts";
import { Sender } from "./sender.ts";

const DEADLINE_MS = 10_000;
const REPLY_BYTES_MAX = 256 * 1024;
const CONNECTIONS_MAX = 4;
/** How long the provider's description of itself is believed. */
const DESCRIPTION_MS = 3_600_000;
const CLOCK_S = 30;
const REASON_LENGTH = 300;

/** What must come back from the provider unchanged. Only the browser that went there keeps it. */
export type PendingSignIn = { state: string; nonce: string; verifier: string; redirectUrl: string };

/** Who somebody is at the provider. The e-mail address only if the provider has verified it. */
export type Identity = { issuer: string; subject: string; email: string | undefined; groups: readonly string[] };

/**
 * The identity provider at which people sign in: the code flow of OpenID Connect, with PKCE, state and nonce, and with the
 * signature of the ID token checked.
 *
 * Its address is a setting, which only the operator can change, so its own host may lie in a private network. Other hosts
 * that its description names must be public: a provider elsewhere cannot make this server call its neighbours.
 */
export class IdentityProvider {
  readonly settings: OidcSettings;
  readonly #own: Sender;
  readonly #others: Sender;
  #described: { configuration: Promise<oidc.Configuration>; atMs: number } | undefined;

  constructor(settings: OidcSettings) {
    this.settings = settings;
    const options = { deadlineMs: DEADLINE_MS, connectionsMax: CONNECTIONS_MAX, replyBytesMax: REPLY_BYTES_MAX };
    this.#own = new Sender({ ...options, mayCall: callable({ mayCallPrivate: true }) });
    this.#others = new Sender({ ...options, mayCall: callable({ mayCallPrivate: false }) });
  }

  /** The address of the provider's page, and what must come back from it. */
  async begin(redirectUrl: string): Promise<{ url: string; pending: PendingSignIn }> {
    const configuration = await this.#configuration();
    const pending = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
      redirectUrl,
    };
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUrl,
      scope: this.settings.scopes,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, pending };
  }

  /** Who has come back, or a refusal that says what is wrong. */
  async finish(pending: PendingSignIn, returned: Readonly<Record<string, string>>): Promise<Identity> {
    const configuration = await this.#configuration();
    const url = new URL(pending.redirectUrl);
    url.search = new URLSearchParams(returned).toString();
    const expected = {
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      pkceCodeVerifier: pending.verifier,
      idTokenExpected: true,
    };
    return this.#asking(async () => {
      const tokens = await oidc.authorizationCodeGrant(configuration, url, expected);
      const claims = tokens.claims()!;
      const { groupsClaim } = this.settings;
      const isWhole = claims.email !== undefined && claims[groupsClaim] !== undefined;
      const more =
        isWhole || configuration.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return identityOf({ ...more, ...claims }, groupsClaim);
    });
  }

  /** Where the person is signed out at the provider, if it has such a page. */
  async signOutUrl(returnUrl: string): Promise<string | undefined> {
    const configuration = await this.#configuration();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnUrl }).href;
  }

  close(): void {
    this.#own.close();
    this.#others.close();
  }

  /** The provider's description of itself, asked for once in a while. A failure is not kept. */
  #configuration(): Promise<oidc.Configuration> {
    const nowMs = elapsedMs();
    if (this.#described && nowMs - this.#described.atMs < DESCRIPTION_MS) return this.#described.configuration;
    const configuration = this.#asking(() => this.#discover());
    const described = { configuration, atMs: nowMs };
    this.#described = described;
    configuration.catch(() => {
      if (this.#described === described) this.#described = undefined;
    });
    return configuration;
  }

  #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.settings;
    const isPlain = new URL(issuer).protocol === "http:";
    const client = clientSecret === "" ? oidc.None() : oidc.ClientSecretBasic(clientSecret);
    const metadata = { [oidc.clockTolerance]: CLOCK_S };
    const execute = [oidc.enableNonRepudiationChecks, ...(isPlain ? [oidc.allowInsecureRequests] : [])];
    return oidc.discovery(new URL(issuer), clientId, metadata, client, {
      execute,
      [oidc.customFetch]: (url, options) => this.#fetch(url, options),
    });
  }

  async #fetch(
    url: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown },
  ): Promise<Response> {
    const { host, protocol } = new URL(url);
    const own = new URL(this.settings.issuer);
    const isOwn = host === own.host;
    if (protocol !== "https:" && !(isOwn && protocol === own.protocol))
      throw new ProviderError(`It names ${url}, which is not https.`);
    const request: HttpRequest = {
      method: method as HttpRequest["method"],
      url,
      headers,
      ...(body !== undefined && body !== null && { body: String(body) }),
    };
    const sent = await (isOwn ? this.#own : this.#others).send(request, "fresh");
    if (sent.kind !== "reply") throw new ProviderError(sent.reason);
    const { status, body: text } = sent.reply;
    const type = sent.headers["content-type"] ?? "";
    return new Response(status === 204 ? null : text, { status, headers: { "content-type": type } });
  }

  /** Tells plainly what went wrong: the provider's own refusal, an answer that does not hold, or no answer. */
  async #asking<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw refusalOf(error);
    }
  }
}

class ProviderError extends Error {}

function refusalOf(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  const first = firstCause(error);
  if (first instanceof ProviderError)
    return new ApiError("overloaded", `The identity provider does not answer: ${first.message}`, { retryAfterS: 5 });
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    const told = [error.error, error.error_description].filter(Boolean).join(", ");
    // A person who says no at the provider has guessed nothing.
    const reason = error.error === "access_denied" ? "notGranted" : "badSign";
    return new ApiError(reason, `The identity provider refuses: ${told.slice(0, REASON_LENGTH)}.`);
  }
  const reason = messageOf(first).slice(0, REASON_LENGTH);
  return new ApiError("badSign", `The answer of the identity provider does not hold: ${reason}.`);
}

/** The error that began it: the others only say where it was noticed. */
function firstCause(error: unknown): unknown {
  let first = error;
  while (first instanceof Error && first.cause instanceof Error) first = first.cause;
  return first;
}

type Claims = Readonly<Record<string, unknown>> & { iss: string; sub: string };

function identityOf(claims: Claims, groupsClaim: string): Identity {
  const { iss: issuer, sub: subject, email, email_verified: isVerified } = claims;
  const groups = [claims[groupsClaim] ?? []].flat().filter((group) => typeof group === "string");
  const isKnown = typeof email === "string" && (isVerified === true || isVerified === "true");
  return { issuer, subject, email: isKnown ? email : undefined, groups };
}
