import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWTPayload, SignJWT } from "jose";

/** A person at the provider, as their claims tell. */
export type Person = { sub: string; email?: string; email_verified?: boolean; groups?: string[] };

/** What a provider that lies or fails does differently. */
export type Fault =
  | "none"
  | "other_nonce"
  | "other_audience"
  | "other_issuer"
  | "foreign_key"
  | "ended"
  | "no_id_token"
  | "denies"
  | "other_state"
  | "claims_in_userinfo"
  | "redirects"
  | "huge";

type Asked = { redirectUri: string; challenge: string; nonce: string; person: Person };

const CLIENT = { id: "touchpoint", secret: "a provider's secret" };

/**
 * An identity provider as OpenID Connect Core 1.0 (sections 3.1.2 and 3.1.3), Discovery 1.0, RFC 7636 and RP-Initiated
 * Logout 1.0 describe it: strict about everything that the client must send, with one person who agrees at once.
 */
export class StandInProvider {
  readonly #server: Server;
  readonly #codes = new Map<string, Asked>();
  readonly #tokens = new Map<string, Person>();
  #keys!: GenerateKeyPairResult;
  #foreign!: GenerateKeyPairResult;
  person: Person = { sub: "1" };
  fault: Fault = "none";
  /** Addresses to which people may be sent back. */
  readonly redirects = new Set<string>();
  /** What was asked for, path by path. */
  readonly calls: string[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  static async start(): Promise<StandInProvider> {
    const provider = new StandInProvider();
    [provider.#keys, provider.#foreign] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
    await new Promise<void>((resolve) => provider.#server.listen(0, "127.0.0.1", resolve));
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The settings of a server that trusts this provider. */
  get env(): Record<string, string> {
    return {
      OIDC_ISSUER: this.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_NAME: "Stand-in",
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<ServerResponse> {
    const url = new URL(request.url!, this.issuer);
    this.calls.push(url.pathname);
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return this.#describe(response);
      case "/jwks": {
        const jwk = await exportJWK(this.#keys.publicKey);
        return json(response, 200, { keys: [{ ...jwk, kid: "k", alg: "RS256", use: "sig" }] });
      }
      case "/authorize":
        return this.#authorize(url.searchParams, response);
      case "/token":
        return this.#token(request, response);
      case "/userinfo":
        return this.#userInfo(request, response);
      case "/end-session": {
        const back = url.searchParams.get("post_logout_redirect_uri");
        if (url.searchParams.get("client_id") !== CLIENT.id || back === null) return json(response, 400, {});
        return response.writeHead(302, { location: back }).end();
      }
      default:
        return json(response, 404, {});
    }
  }

  #describe(response: ServerResponse): ServerResponse {
    if (this.fault === "redirects") {
      return response.writeHead(302, { location: `${this.issuer}/elsewhere` }).end();
    }
    if (this.fault === "huge") return json(response, 200, { issuer: this.issuer, filler: "x".repeat(1_000_000) });
    const { issuer } = this;
    return json(response, 200, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      end_session_endpoint: `${issuer}/end-session`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic"],
      authorization_response_iss_parameter_supported: true,
    });
  }

  #authorize(asked: URLSearchParams, response: ServerResponse): ServerResponse {
    const of = (name: string) => asked.get(name) ?? "";
    const isAsked =
      of("client_id") === CLIENT.id &&
      this.redirects.has(of("redirect_uri")) &&
      of("response_type") === "code" &&
      of("scope").split(" ").includes("openid") &&
      of("state").length >= 16 &&
      of("nonce").length >= 16 &&
      of("code_challenge_method") === "S256" &&
      /^[\w-]{43}$/.test(of("code_challenge"));
    if (!isAsked) return json(response, 400, { error: "invalid_request" });
    const back = new URL(of("redirect_uri"));
    back.searchParams.set("state", this.fault === "other_state" ? "x".repeat(32) : of("state"));
    back.searchParams.set("iss", this.issuer);
    if (this.fault === "denies") {
      back.searchParams.set("error", "access_denied");
      back.searchParams.set("error_description", "The person said no");
    } else {
      const code = randomBytes(16).toString("hex");
      const { person } = this;
      this.#codes.set(code, {
        redirectUri: of("redirect_uri"),
        challenge: of("code_challenge"),
        nonce: of("nonce"),
        person,
      });
      back.searchParams.set("code", code);
    }
    return response.writeHead(302, { location: back.href }).end();
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<ServerResponse> {
    const form = new URLSearchParams(await bodyOf(request));
    const basic = `Basic ${Buffer.from(`${formEncoded(CLIENT.id)}:${formEncoded(CLIENT.secret)}`).toString("base64")}`;
    if (request.headers.authorization !== basic) return json(response, 401, { error: "invalid_client" });
    const asked = this.#codes.get(form.get("code") ?? "");
    this.#codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      form.get("grant_type") === "authorization_code" &&
      asked?.redirectUri === form.get("redirect_uri") &&
      asked.challenge === challenge;
    if (!isRight) return json(response, 400, { error: "invalid_grant" });
    const token = randomBytes(16).toString("hex");
    this.#tokens.set(token, asked.person);
    return json(response, 200, {
      access_token: token,
      token_type: "Bearer",
      expires_in: 60,
      ...(this.fault !== "no_id_token" && { id_token: await this.#idToken(asked) }),
    });
  }

  #idToken({ nonce, person }: Asked): Promise<string> {
    const { sub, ...more } = person;
    const claims: JWTPayload = {
      ...(this.fault !== "claims_in_userinfo" && more),
      nonce: this.fault === "other_nonce" ? "another nonce altogether" : nonce,
    };
    const nowS = Math.floor(Date.now() / 1000);
    const issuedS = this.fault === "ended" ? nowS - 7_200 : nowS;
    const keys = this.fault === "foreign_key" ? this.#foreign : this.#keys;
    return new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setSubject(sub)
      .setIssuer(this.fault === "other_issuer" ? "https://elsewhere.example" : this.issuer)
      .setAudience(this.fault === "other_audience" ? "another client" : CLIENT.id)
      .setIssuedAt(issuedS)
      .setExpirationTime(issuedS + 300)
      .sign(keys.privateKey);
  }

  #userInfo(request: IncomingMessage, response: ServerResponse): ServerResponse {
    const person = this.#tokens.get((request.headers.authorization ?? "").replace(/^Bearer /, ""));
    if (!person) return json(response, 401, { error: "invalid_token" });
    return json(response, 200, person);
  }
}

/** As RFC 6749, section 2.3.1, has it: form-encoded before it is base64. */
function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  return text;
}

function json(response: ServerResponse, status: number, body: object): ServerResponse {
  return response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
