import type { Static } from "typebox";
import { type ApiTokenBody, apiTokenBody, apiTokenIdBody } from "../../contract/setting/api-token.ts";
import {
  type ApiToken,
  countUsableTokens,
  createApiToken,
  loadApiToken,
  type OwnedToken,
  revokeApiToken,
} from "../../db/api-token.ts";
import { commonGrants, type Grants, ROLES, roleEverywhere, roleIn } from "../../domain/access/role.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { assertApps } from "../apps.ts";
import { act, assertName, type Desk } from "../desk.ts";
import { assertSecondFactor } from "./second-factor.ts";

const DAY_MS = 86_400_000;
const DAYS = 90;

/** Who makes or revokes tokens. Without an owner: the command line, or the holder of the admin token. */
type TokenDesk = Desk & { owner: { userId: number; grants: Grants } | undefined };

/** `asked`: the code of the second factor, if the owner has to give one. */
type MakingDesk = TokenDesk & { asked?: { code: string | undefined } | undefined };

export type MadeToken = { token: string; made: OwnedToken };

/** Makes a token that may do no more than its owner. Only its digest is kept. */
export function makeApiToken(desk: MakingDesk, body: ApiTokenBody): Promise<MadeToken> {
  return act(desk, {
    action: "api-tokens/create",
    schema: apiTokenBody,
    body,
    noted: ({ made }) => ({ ...body, id: made.tokenId, prefix: made.prefix }),
    run: async (tx) => {
      const { name, role, days = DAYS } = body;
      const apps = body.apps === "all" ? body.apps : [...new Set(body.apps)];
      const nowMs = desk.clock();
      assertName(name);
      if (desk.owner && desk.asked) await assertSecondFactor(tx, desk, { userId: desk.owner.userId, ...desk.asked });
      if (desk.owner) assertHas(desk.owner.grants, { role, apps });
      if (apps !== "all") await assertApps(tx, apps);
      const userId = desk.owner?.userId ?? null;
      if ((await countUsableTokens(tx, userId, nowMs)) >= LIMITS.apiTokens)
        throw new ApiError("badParameter", `One owner has at most ${LIMITS.apiTokens} tokens: revoke one first.`);
      const endsAtMs = nowMs + days * DAY_MS;
      const { tokenId, token } = await createApiToken(tx, { name, userId, role, apps, nowMs, endsAtMs });
      return { token, made: (await loadApiToken(tx, tokenId))! };
    },
  });
}

/** Revokes a token at once. Only admins of all apps revoke the tokens of others. */
export async function endApiToken(
  desk: TokenDesk & { mayRevokeAll: boolean },
  body: Static<typeof apiTokenIdBody>,
): Promise<void> {
  await act<typeof apiTokenIdBody, OwnedToken>(desk, {
    action: "api-tokens/revoke",
    schema: apiTokenIdBody,
    body,
    noted: ({ name, prefix, owner }) => ({ ...body, name, prefix, owner: owner ?? "" }),
    run: async (tx) => {
      const found = await loadApiToken(tx, body.id);
      const isOwn = found !== undefined && desk.owner !== undefined && found.userId === desk.owner.userId;
      if (!found || !(isOwn || desk.mayRevokeAll))
        throw new ApiError("badParameter", "There is no token with this id.");
      if (!(await revokeApiToken(tx, body.id, desk.clock())))
        throw new ApiError("badParameter", "The token was revoked before.");
      return found;
    },
  });
}

/** Refuses a token that would have more than its owner. An app for which the owner has no role does not exist. */
function assertHas(grants: Grants, { role, apps }: { role: ApiToken["role"]; apps: "all" | readonly number[] }): void {
  const roles = apps === "all" ? [roleEverywhere(grants)] : apps.map((appId) => roleIn(grants, appId));
  const unknown = apps === "all" ? -1 : roles.indexOf(undefined);
  if (unknown >= 0) throw new ApiError("badToken", `app_id: there is no app ${(apps as number[])[unknown]}.`);
  if (roles.every((own) => own !== undefined && ROLES.indexOf(own) >= ROLES.indexOf(role))) return;
  const where = apps === "all" ? "all apps" : "these apps";
  throw new ApiError("notGranted", `You are not ${role} of ${where} yourself: a token has at most what its owner has.`);
}

/** What a token may do now: never more than its owner. */
export function grantsOf({ role, appIds, userId, ownerGrants }: OwnedToken): Grants {
  const given = (appIds ?? [null]).map((appId) => ({ appId, role }));
  return userId === null ? given : commonGrants(given, ownerGrants ?? []);
}

export type TokenState = "valid" | "ended" | "revoked";

export function stateOfToken({ revokedAtMs, endsAtMs }: ApiToken, nowMs: number): TokenState {
  if (revokedAtMs !== null) return "revoked";
  return endsAtMs <= nowMs ? "ended" : "valid";
}

/** The name of a token in the audit log. */
export function nameOfToken({ owner, name, prefix }: OwnedToken): string {
  const token = `token ${name} ${prefix}…`;
  return owner === null ? token : `${owner} (${token})`;
}
