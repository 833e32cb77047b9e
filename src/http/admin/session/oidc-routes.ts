import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { noRole, signInByIdentity } from "../../../admin/session/identities.ts";
import { envelopeSchema } from "../../../contract/envelope.ts";
import { begunOidc, oidcReturnBody, signedIn, signInWays } from "../../../contract/setting/session.ts";
import { countedAddress } from "../../../domain/network.ts";
import { ApiError } from "../../../errors.ts";
import type { Identity, IdentityProvider, PendingSignIn } from "../../../outbound/identity-provider.ts";
import type { Vault } from "../../../vault.ts";
import { callerOf } from "../../caller-address.ts";
import { adminRoute } from "../admin-route.ts";
import { baseUrlOf } from "../base-url.ts";
import { cookieOf, setCookie } from "../cookie.ts";
import { entryOf, shownOpened } from "./entry.ts";
import { requireSameOrigin } from "./same-origin.ts";
import type { SessionContext } from "./session-context.ts";
import { checked, type Gate, ofAddress } from "./sign-in-gate.ts";

/**
 * The page of the console to which the provider sends people back. No cookie of ours comes with that navigation, because
 * they are SameSite=Strict; the page's script hands over what came back in a call of its own, which has them.
 */
const REDIRECT_PATH = "/console/signed-in";
const COOKIE = "touchpoint_oidc";
const COOKIE_PATH = "/admin/api/v1/session/oidc";
const PENDING_S = 600;
/** People who come back at the same moment, in this process. */
const AT_ONCE_MAX = 4;

/** Signing in at the identity provider, where one is set. */
export function oidcRoutes(routes: FastifyInstance, context: SessionContext, { limits }: Gate): void {
  const { config, vault, clock, identityProvider } = context;
  let asking = 0;

  adminRoute(routes, {
    path: "session/ways",
    summary: "Ways to sign in",
    access: "open",
    answer: envelopeSchema(signInWays),
    run: async () => ({ password: config.passwordSignIn, oidc: identityProvider?.settings.name ?? null }),
  });

  adminRoute(routes, {
    path: "session/oidc",
    method: "POST",
    summary: "Begin to sign in at the identity provider",
    description: "Answers the address of its page. What must come back is kept in a signed cookie for ten minutes.",
    access: "open",
    admit: (request) => requireSameOrigin(context, request),
    answer: envelopeSchema(begunOidc),
    run: async ({ request, reply }) => {
      const { url, pending } = await providerOf(context).begin(ownUrl(request, REDIRECT_PATH));
      setPending(context, { request, reply }, { ...pending, endsAtMs: clock() + PENDING_S * 1000 });
      return { url };
    },
  });

  adminRoute(routes, {
    path: "session/oidc/return",
    summary: "Hand over what the identity provider has sent back, and sign in",
    access: "open",
    body: oidcReturnBody,
    admit: (request) => requireSameOrigin(context, request),
    answer: envelopeSchema(signedIn),
    run: async ({ body, request, reply }) => {
      const provider = providerOf(context);
      const pending = pendingOf(vault, request, clock());
      // Used up, whatever comes of it.
      setPending(context, { request, reply }, undefined);
      const attempt = limits.begin([ofAddress("oidc", countedAddress(callerOf(context, request)))], clock());
      if (asking >= AT_ONCE_MAX) {
        attempt.unchecked();
        throw new ApiError("overloaded", "Others are signing in at this moment: try again.", { retryAfterS: 5 });
      }
      asking += 1;
      try {
        const identity = await refusedOnly(attempt, context, request, () => provider.finish(pending, body.returned));
        const entry = await entryOf(context, request, "");
        const opened = await checked(attempt, async () => {
          const entered = await signInByIdentity(entry, identity, provider.settings);
          if (entered.kind === "entered") return entered.opened;
          context.seenSessions.forgetPerson(entered.user);
          throw noRole();
        });
        attempt.succeeded();
        return shownOpened(context, opened, { request, reply });
      } finally {
        asking -= 1;
      }
    },
  });
}

/** Only what the provider or its answer refuses counts as a failed attempt. */
async function refusedOnly(
  attempt: { unchecked(): void },
  context: Pick<SessionContext, "caller" | "failedSignIns">,
  request: FastifyRequest,
  ask: () => Promise<Identity>,
): Promise<Identity> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ApiError && error.reason === "badSign")
      context.failedSignIns.note({ address: callerOf(context, request), by: "identity provider" });
    else attempt.unchecked();
    throw error;
  }
}

function providerOf({ identityProvider }: Pick<SessionContext, "identityProvider">): IdentityProvider {
  if (identityProvider) return identityProvider;
  throw new ApiError("badParameter", "No identity provider is set: the operator sets OIDC_ISSUER.");
}

/** An address of this console as the browser knows it. */
export function ownUrl(request: FastifyRequest, path: string): string {
  const { origin } = request.headers;
  return new URL(path, origin !== undefined && URL.canParse(origin) ? origin : baseUrlOf(request, undefined)).href;
}

type KeptSignIn = PendingSignIn & { endsAtMs: number };

/** Only the browser that went to the provider has it; the mark tells that we gave it. An empty one ends it. */
function setPending(
  { vault }: Pick<SessionContext, "vault">,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  pending: KeptSignIn | undefined,
): void {
  const text = pending === undefined ? "" : Buffer.from(JSON.stringify(pending)).toString("base64url");
  const [value, lifeS] = text === "" ? ["", 0] : [`${text}.${markOf(vault, text).toString("base64url")}`, PENDING_S];
  setCookie(request, reply, { name: COOKIE, value, lifeS, path: COOKIE_PATH });
}

function pendingOf(vault: Vault, request: FastifyRequest, nowMs: number): PendingSignIn {
  const [text = "", mark = ""] = (cookieOf(request, COOKIE) ?? "").split(".");
  const [given, expected] = [Buffer.from(mark, "base64url"), markOf(vault, text)];
  if (given.length === expected.length && timingSafeEqual(given, expected)) {
    const pending = JSON.parse(Buffer.from(text, "base64url").toString()) as KeptSignIn;
    if (pending.endsAtMs > nowMs) return pending;
  }
  throw new ApiError(
    "badSign",
    "This sign-in was begun in another browser, was used already, or took too long. Begin again.",
  );
}

function markOf(vault: Vault, text: string): Buffer {
  return createHmac("sha256", vault.keyFor("oidc-pending")).update(text).digest();
}
