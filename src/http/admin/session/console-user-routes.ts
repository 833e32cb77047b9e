import type { FastifyInstance } from "fastify";
import { emptyData, envelopeSchema, success } from "../../../contract/envelope.ts";
import {
  type AuditPage,
  auditPage,
  auditQuery,
  type ConsoleUser,
  type ConsoleUserList,
  consoleUserBody,
  consoleUserList,
  consoleUserNameBody,
  type InvitedUser,
  invitedUser,
} from "../../../contract/setting/session.ts";
import {
  type AdminUser,
  type ConsoleRole,
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
import type { SessionContext } from "./session-context.ts";

const BASE = "/admin/api/v1/console-users";

/** People of the console, and what was changed by whom. */
export function consoleUserRoutes(routes: FastifyInstance, context: Pick<SessionContext, "pool" | "clock">): void {
  auditRoute(routes, context);
  invitationRoutes(routes, context);
  memberRoutes(routes, context);
}

function invitationRoutes(routes: FastifyInstance, { pool, clock }: Pick<SessionContext, "pool" | "clock">): void {
  routes.post(`${BASE}/create`, {
    schema: {
      summary: "Add somebody to the console",
      description:
        "The answer holds a one-time token: the person sets the password with it, at `/console/setup#` and the token.",
      ...{ tags: ["admin"], body: consoleUserBody, response: { 200: envelopeSchema(invitedUser) } },
    },
    handler: async (request) => {
      const { name, role } = request.body as { name: string; role: ConsoleRole };
      if (nameOf(name) === "") throw new ApiError("badParameter", "name is empty.");
      return inTransaction(pool, async (tx) => {
        const nowMs = clock();
        // No password has this hash: only the link can set one.
        const user = await createAdminUser(tx, { name, role, passwordHash: "none", nowMs });
        if (!user) throw new ApiError("badParameter", "There is somebody of that name already.");
        const setup_token = await createSetupLink(tx, { userId: user.userId, nowMs });
        return success({ ...shownUser(user), setup_token } satisfies InvitedUser);
      });
    },
  });

  routes.post(`${BASE}/link`, {
    schema: {
      summary: "A new one-time token for somebody who has forgotten the password",
      ...{ tags: ["admin"], body: consoleUserNameBody, response: { 200: envelopeSchema(invitedUser) } },
    },
    handler: async (request) => {
      const user = await findAdminUser(pool, (request.body as { name: string }).name);
      if (!user) throw nobody();
      const setup_token = await inTransaction(pool, (tx) =>
        createSetupLink(tx, { userId: user.userId, nowMs: clock() }),
      );
      return success({ ...shownUser(user), setup_token } satisfies InvitedUser);
    },
  });
}

function memberRoutes(routes: FastifyInstance, context: Pick<SessionContext, "pool">): void {
  routes.get(BASE, {
    schema: { summary: "People of the console", tags: ["admin"], response: { 200: envelopeSchema(consoleUserList) } },
    handler: async () =>
      success({ users: (await loadAdminUsers(context.pool)).map(shownUser) } satisfies ConsoleUserList),
  });

  routes.post(`${BASE}/role`, {
    schema: {
      summary: "Change somebody's role",
      tags: ["admin"],
      body: consoleUserBody,
      response: { 200: envelopeSchema(emptyData) },
    },
    handler: async (request) => {
      const body = request.body as { name: string; role: ConsoleRole };
      await changeAndKeepAdmin(context, (tx) => changeRole(tx, body));
      return success({});
    },
  });

  routes.post(`${BASE}/remove`, {
    schema: {
      summary: "Remove somebody",
      ...{ tags: ["admin"], body: consoleUserNameBody, response: { 200: envelopeSchema(emptyData) } },
    },
    handler: async (request) => {
      const { name } = request.body as { name: string };
      await changeAndKeepAdmin(context, (tx) => removeAdminUser(tx, name));
      return success({});
    },
  });
}

function auditRoute(routes: FastifyInstance, { pool }: Pick<SessionContext, "pool">): void {
  routes.get("/admin/api/v1/audit", {
    schema: {
      summary: "What was changed by whom, the newest first",
      ...{ tags: ["admin"], querystring: auditQuery, response: { 200: envelopeSchema(auditPage) } },
    },
    handler: async (request) => {
      const { app_id, before } = request.query as { app_id?: string; before?: string };
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
      return success({ entries, next_before } satisfies AuditPage);
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
