import type { FastifyInstance } from "fastify";
import {
  addPerson,
  changePersonRole,
  type Invited,
  linkPerson,
  removePerson,
  signOutPerson,
} from "../../../admin/session/people.ts";
import { resetSecondFactor } from "../../../admin/session/second-factor.ts";
import { emptyData, envelopeSchema } from "../../../contract/envelope.ts";
import {
  auditPage,
  auditQuery,
  type ConsoleUser,
  consoleUserBody,
  consoleUserList,
  consoleUserNameBody,
  endedSessions,
  type InvitedUser,
  invitedUser,
} from "../../../contract/setting/session.ts";
import { type AdminUser, loadAdminUsers } from "../../../db/admin-user.ts";
import { loadAudit } from "../../../db/audit-log.ts";
import { appsFor } from "../../../domain/access/role.ts";
import { LIMITS } from "../../../limits.ts";
import { adminRoute } from "../admin-route.ts";
import type { SessionContext } from "./session-context.ts";
import { shownGrants } from "./shown-grants.ts";

type PeopleContext = Pick<SessionContext, "pool" | "vault" | "clock" | "seenSessions">;

/** People of the console, and the audit log. */
export function consoleUserRoutes(routes: FastifyInstance, context: PeopleContext): void {
  auditRoute(routes, context);
  invitationRoutes(routes, context);
  memberRoutes(routes, context);
  accessRoutes(routes, context);
}

function invitationRoutes(routes: FastifyInstance, { pool, vault, clock }: PeopleContext): void {
  adminRoute(routes, {
    path: "console-users/create",
    summary: "Add a person to the console",
    description:
      "The answer holds a one-time token. The person opens `/console/setup#` followed by the token to set a password.",
    access: "installation",
    apps: "all",
    apiTokens: "refused",
    body: consoleUserBody,
    answer: envelopeSchema(invitedUser),
    run: async ({ body, by }) => shownInvited(await addPerson({ pool, vault, clock, by }, body)),
  });

  adminRoute(routes, {
    path: "console-users/link",
    summary: "Make a new one-time token for a person who forgot the password",
    access: "installation",
    apps: "all",
    apiTokens: "refused",
    body: consoleUserNameBody,
    answer: envelopeSchema(invitedUser),
    run: async ({ body, by }) => shownInvited(await linkPerson({ pool, vault, clock, by }, body)),
  });
}

function memberRoutes(routes: FastifyInstance, { pool, vault, clock, seenSessions }: PeopleContext): void {
  adminRoute(routes, {
    path: "console-users",
    summary: "People of the console",
    access: "detail",
    apps: "all",
    answer: envelopeSchema(consoleUserList),
    run: async () => ({ users: (await loadAdminUsers(pool)).map(shownUser) }),
  });

  adminRoute(routes, {
    path: "console-users/role",
    summary: "Give a person other roles",
    description: "Instead of the earlier ones. Other sessions of the person end.",
    access: "installation",
    apps: "all",
    apiTokens: "refused",
    body: consoleUserBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body, by, request }) => {
      await changePersonRole({ pool, vault, clock, by }, body, request.actor.session);
      seenSessions.forgetPerson(body);
      return {};
    },
  });

  adminRoute(routes, {
    path: "console-users/remove",
    summary: "Remove a person",
    access: "installation",
    apps: "all",
    body: consoleUserNameBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body, by }) => {
      await removePerson({ pool, vault, clock, by }, body);
      seenSessions.forgetPerson(body);
      return {};
    },
  });
}

function accessRoutes(routes: FastifyInstance, { pool, vault, clock, seenSessions }: PeopleContext): void {
  adminRoute(routes, {
    path: "console-users/sign-out",
    summary: "End all sessions of a person",
    description: "Their tokens for programs are revoked as well.",
    access: "installation",
    apps: "all",
    body: consoleUserNameBody,
    answer: envelopeSchema(endedSessions),
    run: async ({ body, by }) => {
      const ended = await signOutPerson({ pool, vault, clock, by }, body);
      seenSessions.forgetPerson(body);
      return { ended };
    },
  });

  adminRoute(routes, {
    path: "console-users/reset-second-factor",
    summary: "Remove the second factor of a person who has lost it",
    description: "All their sessions end, and their tokens for programs are revoked.",
    access: "installation",
    apps: "all",
    apiTokens: "refused",
    body: consoleUserNameBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body, by }) => {
      await resetSecondFactor({ pool, vault, clock, by }, body);
      seenSessions.forgetPerson(body);
      return {};
    },
  });
}

function auditRoute(routes: FastifyInstance, { pool }: Pick<SessionContext, "pool">): void {
  adminRoute(routes, {
    path: "audit",
    summary: "Audit log: who changed what, newest first",
    description: "What concerns no app is shown to those who have the role for all apps.",
    access: "detail",
    apps: "some",
    query: auditQuery,
    answer: envelopeSchema(auditPage),
    run: async ({ query, request }) => {
      const { app_id, before } = query;
      const page = {
        apps: app_id === undefined ? appsFor(request.actor.grants, "detail") : [Number(app_id)],
        beforeId: Number(before ?? Number.MAX_SAFE_INTEGER),
      };
      // One more than is shown tells whether there is another page.
      const found = await loadAudit(pool, { ...page, limit: LIMITS.auditListed + 1 });
      const entries = found.slice(0, LIMITS.auditListed).map(({ auditId, atMs, appId, ...entry }) => ({
        id: auditId,
        at_ms: atMs,
        app_id: appId,
        ...entry,
      }));
      const next_before = found.length > entries.length ? entries.at(-1)!.id : null;
      return { entries, next_before };
    },
  });
}

function shownInvited({ user, setupToken }: Invited): InvitedUser {
  return { ...shownUser(user), setup_token: setupToken };
}

function shownUser({ name, grants, hasSecondFactor, createdAtMs }: AdminUser): ConsoleUser {
  return { name, grants: shownGrants(grants), has_second_factor: hasSecondFactor, created_at_ms: createdAtMs };
}
