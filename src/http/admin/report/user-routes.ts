import type { FastifyInstance } from "fastify";
import { eraseBody } from "../../../contract/admin/admin.ts";
import {
  type Erased,
  eraseAnswer,
  timelineAnswer,
  timelineQuery,
  userQuery,
  userSearchAnswer,
  userSearchQuery,
  userViewAnswer,
} from "../../../contract/admin/admin-user.ts";
import { success } from "../../../contract/envelope.ts";
import { loadUsers } from "../../../db/user-account.ts";
import { readClientId } from "../../../domain/user/identity.ts";
import { ApiError } from "../../../errors.ts";
import type { EntryHead } from "../../../journal/entry.ts";
import { LIMITS } from "../../../limits.ts";
import { PLATFORM_NAMES } from "../../../platform/registry.ts";
import { readTimeline, readTimelineWish } from "../../../report/user/timeline.ts";
import { searchUsers } from "../../../report/user/user-search.ts";
import { viewUser } from "../../../report/user/user-view.ts";
import type { AdminReportContext, EraseContext } from "./admin-report-context.ts";

const BASE = "/admin/api/v1";
type Texts = Record<string, string>;

/** What is known of single users, and what an operator does with them. */
export function userRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  viewRoutes(routes, context);

  routes.post(`${BASE}/users/erase`, {
    schema: {
      summary: "Erase a user: everything that is stored of one client, for ever",
      description:
        "`state` is `erased`, or `accepted` where the tables are filled by another process or are far behind.",
      ...{ tags: ["admin"], body: eraseBody, response: { 200: eraseAnswer } },
    },
    config: { numbersAreIds: true, auditHides: ["client_id"] },
    handler: async (request) => {
      const body = request.body as { app_id: number; client_id: string | number };
      const { appId } = await context.apps.findById(body.app_id);
      return success(await erase(context, appId, readClientId(body.client_id)));
    },
  });
}

function viewRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  const { apps } = context;

  routes.get(`${BASE}/user`, {
    schema: {
      summary: "One user: registration, source, device, properties, figures",
      ...{ tags: ["admin"], querystring: userQuery, response: { 200: userViewAnswer } },
    },
    handler: async (request) => {
      const { app_id, client_id } = request.query as Texts;
      const app = await apps.findById(Number(app_id));
      return success(existing(await viewUser(context.reportPool(), app, readClientId(client_id))));
    },
  });

  routes.get(`${BASE}/user/timeline`, {
    schema: {
      summary: "What happened to one user, the newest first",
      description: "Touches, registration and returns, events, orders and postbacks, page by page.",
      ...{ tags: ["admin"], querystring: timelineQuery, response: { 200: timelineAnswer } },
    },
    handler: async (request) => {
      const { app_id, client_id, ...given } = request.query as Texts;
      const app = await apps.findById(Number(app_id));
      const wish = readTimelineWish(readClientId(client_id), given);
      return success(existing(await readTimeline(context.reportPool(), app, wish)));
    },
  });

  routes.get(`${BASE}/user/search`, {
    schema: {
      summary: "Users who have an id",
      ...{ tags: ["admin"], querystring: userSearchQuery, response: { 200: userSearchAnswer } },
    },
    handler: async (request) => {
      const { app_id, q } = request.query as { app_id: string; q: string };
      const app = await apps.findById(Number(app_id));
      const id = q.trim();
      if (id === "") throw new ApiError("badParameter", "q must be an id.");
      return success(await searchUsers(context.reportPool(), app, { id, platforms: PLATFORM_NAMES }));
    },
  });
}

function existing<Answer extends object>(answer: Answer | undefined): Answer {
  if (!answer) throw new ApiError("notRegistered", "There is no user of this client_id.");
  return answer;
}

async function erase(context: EraseContext, appId: number, clientId: string): Promise<Erased> {
  const { applies, progress, intake, known, live, pool, clock } = context;
  // Whoever registered a moment ago is still on the way into the tables.
  if (applies) await progress.waitFor(context.durable(), LIMITS.appliedWaitMs);
  const [user] = await loadUsers(pool, [{ appId, clientId }]);
  if (!user && !known.isKnown(appId, clientId)) {
    throw new ApiError("notRegistered", "There is no user of this client_id.");
  }
  // Neither the operator's address nor their program belongs into the record of the person.
  const head: EntryHead = {
    kind: "erase",
    app: appId,
    client: clientId,
    at: clock(),
    ip: "",
    ua: "",
    registered: "yes",
  };
  const position = await intake.accept(head, Buffer.from("{}"));
  const isErased = applies && (await progress.waitFor(position, LIMITS.eraseWaitMs));
  // A look-up before that would still find the client in the tables and remember it.
  known.forget(appId, clientId);
  live.forget(appId, clientId);
  return { client_id: clientId, state: isErased ? "erased" : "accepted" };
}
