import type { FastifyInstance } from "fastify";
import { emptyData, envelopeSchema } from "../../../contract/envelope.ts";
import {
  auditPage,
  auditQuery,
  type ConsoleUser,
  consoleUserBody,
  consoleUserList,
  consoleUserNameBody,
  invitedUser,
} from "../../../contract/setting/session.ts";
import {
  type AdminUser,
  changeRole,
  countAdmins,
  createAdminUser,
  createSetupLink,
  findAdminUser,
  loadAdminUsers,
  nameOf,
  removeAdminUser,
} from "../../../db/admin-user.ts";
import { loadAudit } from "../../../db/audit-log.ts";
import { inTransaction } from "../../../db/engine/pool.ts";
import type { Executor } from "../../../db/engine/sql.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import { adminRoute } from "../admin-route.ts";
import type { SessionContext } from "./session-context.ts";

/** People of the console, and what was changed by whom. */
export function consoleUserRoutes(routes: FastifyInstance, context: Pick<SessionContext, "pool" | "clock">): void {
  auditRoute(routes, context);
  invitationRoutes(routes, context);
  memberRoutes(routes, context);
}

function invitationRoutes(routes: FastifyInstance, { pool, clock }: Pick<SessionContext, "pool" | "clock">): void {
  adminRoute(routes, {
    path: "console-users/create",
    summary: "Add somebody to the console",
    description:
      "The answer holds a one-time token: the person sets the password with it, at `/console/setup#` and the token.",
    access: "change",
    body: consoleUserBody,
    answer: envelopeSchema(invitedUser),
    run: async ({ body }) => {
      const { name, role } = body;
      if (nameOf(name) === "") throw new ApiError("badParameter", "name is empty.");
      return inTransaction(pool, async (tx) => {
        const nowMs = clock();
        // No password has this hash: only the link can set one.
        const user = await createAdminUser(tx, { name, role, passwordHash: "none", nowMs });
        if (!user) throw new ApiError("badParameter", "There is somebody of that name already.");
        const setup_token = await createSetupLink(tx, { userId: user.userId, nowMs });
        return { ...shownUser(user), setup_token };
      });
    },
  });

  adminRoute(routes, {
    path: "console-users/link",
    summary: "A new one-time token for somebody who has forgotten the password",
    access: "change",
    body: consoleUserNameBody,
    answer: envelopeSchema(invitedUser),
    run: async ({ body }) => {
      const user = await findAdminUser(pool, body.name);
      if (!user) throw nobody();
      const setup_token = await inTransaction(pool, (tx) =>
        createSetupLink(tx, { userId: user.userId, nowMs: clock() }),
      );
      return { ...shownUser(user), setup_token };
    },
  });
}

function memberRoutes(routes: FastifyInstance, context: Pick<SessionContext, "pool">): void {
  adminRoute(routes, {
    path: "console-users",
    summary: "People of the console",
    access: "read",
    answer: envelopeSchema(consoleUserList),
    run: async () => ({ users: (await loadAdminUsers(context.pool)).map(shownUser) }),
  });

  adminRoute(routes, {
    path: "console-users/role",
    summary: "Change somebody's role",
    access: "change",
    body: consoleUserBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body }) => {
      await changeAndKeepAdmin(context, (tx) => changeRole(tx, body));
      return {};
    },
  });

  adminRoute(routes, {
    path: "console-users/remove",
    summary: "Remove somebody",
    access: "change",
    body: consoleUserNameBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body }) => {
      await changeAndKeepAdmin(context, (tx) => removeAdminUser(tx, body.name));
      return {};
    },
  });
}

function auditRoute(routes: FastifyInstance, { pool }: Pick<SessionContext, "pool">): void {
  adminRoute(routes, {
    path: "audit",
    summary: "What was changed by whom, the newest first",
    access: "read",
    query: auditQuery,
    answer: envelopeSchema(auditPage),
    run: async ({ query }) => {
      const { app_id, before } = query;
      const page = {
        appId: app_id === undefined ? undefined : Number(app_id),
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

/** An installation that nobody can change any more would be of no use. */
async function changeAndKeepAdmin(
  { pool }: Pick<SessionContext, "pool">,
  change: (tx: Executor) => Promise<boolean>,
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    if (!(await change(tx))) throw nobody();
    if ((await countAdmins(tx)) === 0) throw new ApiError("badParameter", "The last admin stays an admin.");
  });
}

function nobody(): ApiError {
  return new ApiError("badParameter", "There is nobody of that name.");
}

function shownUser({ name, role, createdAtMs }: AdminUser): ConsoleUser {
  return { name, role, created_at_ms: createdAtMs };
}
