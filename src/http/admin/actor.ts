import type { FastifyRequest } from "fastify";
import type { By } from "../../admin/desk.ts";
import { type Grants, mayAnywhere, mayEverywhere, mayIn, type Need, roleIn } from "../../domain/access/role.ts";
import { ApiError } from "../../errors.ts";

/** The user of the admin interface: a person signed in to the console, or the holder of a token. */
export type Actor = {
  /** The owner of what is saved under a name; the audit log may say more, see `By`. */
  name: string;
  grants: Grants;
  /** The person behind a session or a token; undefined for the admin token, commands, and tokens made by a command. */
  userId: number | undefined;
  session: string | undefined;
  /** The token for programs that the call was made with. */
  tokenId?: number;
  /** The generation of the admin token that the call was made with. */
  adminGeneration?: number;
  /** Whether a role of the person needs a second factor that is not set up: until then, only the session's own routes answer. */
  mustSetUpFactor?: boolean;
  /** How the audit log names the caller, if not by `name`. */
  by?: string;
};

/**
 * Who may call a route. `open`: anybody, because a caller who is signing in has no name yet. `own`: everybody who is signed
 * in, about their own things. Otherwise what the caller's role must allow; see domain/access/role.ts.
 */
export type Access = "open" | "own" | Need;

/**
 * For which apps the caller must have the role. `one`: for the app that the call names. `some`: for the app that the call
 * names, if any; the answer is about no other apps than the caller's. `all`: for all apps.
 */
export type AppsNeeded = "one" | "some" | "all";

declare module "fastify" {
  interface FastifyRequest {
    /** The user of the admin interface. */
    actor: Actor;
    /** The same, as the audit log names them. */
    by: By;
  }
  interface FastifyContextConfig {
    /** Who may call a route of the admin interface. */
    access?: Access;
    apps?: AppsNeeded;
    apiTokens?: "refused";
  }
}

export function accessOf(request: FastifyRequest): { access: Access; apps: AppsNeeded } {
  const { access = "installation", apps = "all" } = request.routeOptions.config;
  return { access, apps };
}

/** Refuses a caller whose roles cannot suffice whichever app the call names. Nothing of the body is read before. */
export function assertMayCall({ grants, tokenId, mustSetUpFactor }: Actor, request: FastifyRequest): void {
  const { access, apps } = accessOf(request);
  if (tokenId !== undefined && request.routeOptions.config.apiTokens === "refused")
    throw new ApiError("notGranted", "A token for programs cannot do this: sign in to the console.");
  if (mustSetUpFactor && !request.routeOptions.url?.startsWith("/admin/api/v1/session"))
    throw new ApiError("secondFactor", "Your role needs a second factor: set it up in the console, under Account.");
  if (access === "open" || access === "own") return;
  const isEnough = apps === "all" ? mayEverywhere(grants, access) : mayAnywhere(grants, access);
  if (!isEnough) throw notGranted(access, apps);
}

/**
 * Refuses a call about an app for which the caller's role does not suffice. An app for which the caller has no role at all
 * does not exist: the answer is the same as for an id that no app has.
 */
export function assertMayUseApps({ grants }: Actor, request: FastifyRequest): void {
  const { access, apps } = accessOf(request);
  if (access === "open") return;
  const named = appsNamedIn(request);
  for (const appId of named) {
    if (roleIn(grants, appId) === undefined) throw new ApiError("badToken", `app_id: there is no app ${appId}.`);
    if (access !== "own" && !mayIn(grants, access, appId)) throw notGranted(access, "one");
  }
  if (named.length === 0 && apps === "one" && access !== "own")
    throw new ApiError("badParameter", "app_id is missing.");
}

/** Every app that a call names, in its query and in its body. */
function appsNamedIn({ query, body }: FastifyRequest): number[] {
  const named = [query, body].map((part) => (part as { app_id?: string | number } | null | undefined)?.app_id);
  return named.flatMap((appId) => (appId === undefined ? [] : [Number(appId)]));
}

const WHAT: Readonly<Record<Need, string>> = {
  report: "see reports",
  detail: "see users, orders, settings and logs",
  operate: "operate: costs, campaigns, imports, postbacks",
  setting: "change settings and see secrets",
  installation: "manage people, apps and developer applications",
};

function notGranted(need: Need, apps: AppsNeeded): ApiError {
  const where = apps === "all" || need === "installation" ? "for all apps" : "for this app";
  return new ApiError("notGranted", `Your role ${where} does not allow you to ${WHAT[need]}. Ask an admin.`);
}
