import type { FastifyInstance } from "fastify";
import { LIMITS } from "../config.ts";
import { adminAnswer } from "../contract/admin.ts";
import { success } from "../contract/envelope.ts";
import { auditQuery, consoleUserBody, consoleUserNameBody } from "../contract/session.ts";
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
} from "../db/admin-user.ts";
import { loadAudit } from "../db/audit-log.ts";
import { inTransaction } from "../db/pool.ts";
import type { Executor } from "../db/sql.ts";
import { ApiError } from "../errors.ts";
import type { HttpContext } from "./context.ts";

const BASE = "/admin/api/v1/console-users";

/** People of the console, and what was changed by whom. */
export function consoleUserRoutes(routes: FastifyInstance, context: HttpContext): void {
  const { pool, clock } = context;
  auditRoute(routes, context);

  routes.get(BASE, {
    schema: { summary: "People of the console", tags: ["admin"], response: { 200: adminAnswer } },
    handler: async () => success({ users: (await loadAdminUsers(pool)).map(shownUser) }),
  });

  routes.post(`${BASE}/create`, {
    schema: {
      summary: "Add somebody to the console",
      description:
        "The answer holds a one-time token: the person sets the password with it, at `/console/setup#` and the token.",
      ...{ tags: ["admin"], body: consoleUserBody, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const { name, role } = request.body as { name: string; role: ConsoleRole };
      if (nameOf(name) === "") throw new ApiError("badParameter", "name is empty.");
      return inTransaction(pool, async (tx) => {
        const nowMs = clock();
        // No password has this hash: only the link can set one.
        const user = await createAdminUser(tx, { name, role, passwordHash: "none", nowMs });
        if (!user) throw new ApiError("badParameter", "There is somebody of that name already.");
        return success({ ...shownUser(user), setup_token: await createSetupLink(tx, { userId: user.userId, nowMs }) });
      });
    },
  });

  routes.post(`${BASE}/link`, {
    schema: {
      summary: "A new one-time token for somebody who has forgotten the password",
      ...{ tags: ["admin"], body: consoleUserNameBody, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const user = await findAdminUser(pool, (request.body as { name: string }).name);
      if (!user) throw nobody();
      const setup_token = await inTransaction(pool, (tx) =>
        createSetupLink(tx, { userId: user.userId, nowMs: clock() }),
      );
      return success({ ...shownUser(user), setup_token });
    },
  });

  routes.post(`${BASE}/role`, {
    schema: {
      summary: "Change somebody's role",
      tags: ["admin"],
      body: consoleUserBody,
      response: { 200: adminAnswer },
    },
    handler: async (request) => {
      const body = request.body as { name: string; role: ConsoleRole };
      await changeAndKeepAdmin(context, (tx) => changeRole(tx, body));
      return success({});
    },
  });

  routes.post(`${BASE}/remove`, {
    schema: { summary: "Remove somebody", tags: ["admin"], body: consoleUserNameBody, response: { 200: adminAnswer } },
    handler: async (request) => {
      const { name } = request.body as { name: string };
      await changeAndKeepAdmin(context, (tx) => removeAdminUser(tx, name));
      return success({});
    },
  });
}

function auditRoute(routes: FastifyInstance, { pool }: HttpContext): void {
  routes.get("/admin/api/v1/audit", {
    schema: {
      summary: "What was changed by whom, the newest first",
      ...{ tags: ["admin"], querystring: auditQuery, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const { app_id, before } = request.query as { app_id?: string; before?: string };
      const page = { appId: app_id === undefined ? undefined : Number(app_id), limit: LIMITS.auditListed };
      const entries = await loadAudit(pool, { ...page, beforeId: Number(before ?? Number.MAX_SAFE_INTEGER) });
      const shown = entries.map(({ auditId, atMs, appId, ...entry }) => ({
        id: auditId,
        at: atMs,
        app_id: appId,
        ...entry,
      }));
      return success({ entries: shown });
    },
  });
}

/** An installation that nobody can change any more would be of no use. */
async function changeAndKeepAdmin({ pool }: HttpContext, change: (tx: Executor) => Promise<boolean>): Promise<void> {
  await inTransaction(pool, async (tx) => {
    if (!(await change(tx))) throw nobody();
    if ((await countAdmins(tx)) === 0) throw new ApiError("badParameter", "The last admin stays an admin.");
  });
}

function nobody(): ApiError {
  return new ApiError("badParameter", "There is nobody of that name.");
}

function shownUser({ name, role, createdAtMs }: AdminUser): object {
  return { name, role, created_at: createdAtMs };
}
