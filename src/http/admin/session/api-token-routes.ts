import type { FastifyInstance, FastifyRequest } from "fastify";
import { endApiToken, makeApiToken, stateOfToken } from "../../../admin/session/api-tokens.ts";
import { emptyData, envelopeSchema } from "../../../contract/envelope.ts";
import {
  apiTokenIdBody,
  apiTokenList,
  madeApiToken,
  provenTokenBody,
  type ShownApiToken,
} from "../../../contract/setting/api-token.ts";
import { loadApiTokens, type OwnedToken } from "../../../db/api-token.ts";
import { mayEverywhere } from "../../../domain/access/role.ts";
import { LIMITS } from "../../../limits.ts";
import type { Actor } from "../actor.ts";
import { adminRoute } from "../admin-route.ts";
import type { SessionContext } from "./session-context.ts";
import { type Gate, type GateContext, proven } from "./sign-in-gate.ts";

type TokenContext = GateContext & Pick<SessionContext, "vault">;

/** Tokens for programs: everybody has their own; admins of all apps see and revoke all. */
export function apiTokenRoutes(routes: FastifyInstance, context: TokenContext, gate: Gate): void {
  listRoute(routes, context);
  makeRoute(routes, context, gate);
  revokeRoute(routes, context);
}

function listRoute(routes: FastifyInstance, { pool, clock }: TokenContext): void {
  adminRoute(routes, {
    path: "api-tokens",
    summary: "Tokens for programs",
    description: "The caller's own; admins of all apps see those of everybody.",
    access: "own",
    answer: envelopeSchema(apiTokenList),
    run: async ({ request }) => {
      const { actor } = request;
      const nowMs = clock();
      const wish = mayRevokeAll(actor) ? "all" : { userId: actor.userId ?? 0 };
      const tokens = await loadApiTokens(pool, wish, { nowMs, limit: LIMITS.apiTokensListed });
      return { tokens: tokens.map((token) => shownToken(token, nowMs)), days_max: LIMITS.apiTokenDays };
    },
  });
}

function makeRoute(routes: FastifyInstance, context: TokenContext, gate: Gate): void {
  adminRoute(routes, {
    path: "api-tokens/create",
    summary: "Make a token for a program",
    description:
      "It goes into the header `Authorization: Bearer …`. It may do at most what its owner may do when it is used. Needs " +
      "the current password, or a code of the second factor from who has no password: a stolen session would become a " +
      "token that lasts.",
    access: "own",
    apiTokens: "refused",
    body: provenTokenBody,
    answer: envelopeSchema(madeApiToken),
    run: async ({ body: { password, code, ...body }, request }) => {
      const { token, made } = await proven(context, request, gate, { password, code }, (asked) =>
        makeApiToken({ ...deskOf(context, request), asked }, body),
      );
      return { ...shownToken(made, context.clock()), token };
    },
  });
}

function revokeRoute(routes: FastifyInstance, context: TokenContext): void {
  adminRoute(routes, {
    path: "api-tokens/revoke",
    summary: "Revoke a token at once",
    access: "own",
    apiTokens: "refused",
    body: apiTokenIdBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body, request }) => {
      const desk = { ...deskOf(context, request), mayRevokeAll: mayRevokeAll(request.actor) };
      await endApiToken(desk, body);
      return {};
    },
  });
}

function mayRevokeAll({ grants }: Actor): boolean {
  return mayEverywhere(grants, "installation");
}

function deskOf({ pool, vault, clock }: TokenContext, { by, actor }: FastifyRequest) {
  const owner = actor.userId === undefined ? undefined : { userId: actor.userId, grants: actor.grants };
  return { pool, vault, clock, by, owner };
}

export function shownToken(token: OwnedToken, nowMs: number): ShownApiToken {
  return {
    id: token.tokenId,
    name: token.name,
    prefix: token.prefix,
    owner: token.owner ?? "",
    role: token.role,
    apps: token.appIds ?? "all",
    state: stateOfToken(token, nowMs),
    created_at_ms: token.createdAtMs,
    ends_at_ms: token.endsAtMs,
    used_at_ms: token.usedAtMs,
  };
}
