import type { FastifyInstance } from "fastify";
import { eraseUser } from "../../../admin/report/users.ts";
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
import { readClientId } from "../../../domain/user/identity.ts";
import type { UserKey } from "../../../domain/user/user-key.ts";
import { ApiError } from "../../../errors.ts";
import type { EntryHead } from "../../../journal/entry.ts";
import { LIMITS } from "../../../limits.ts";
import { PLATFORM_NAMES } from "../../../platform/registry.ts";
import { readTimeline, readTimelineWish } from "../../../report/user/timeline.ts";
import { searchUsers } from "../../../report/user/user-search.ts";
import { viewUser } from "../../../report/user/user-view.ts";
import { adminRoute } from "../admin-route.ts";
import type { AdminReportContext, EraseContext } from "./admin-report-context.ts";

/** How long the answer waits until the user is erased. */
const ERASE_WAIT_MS = 60_000;

/** Single users: view, search, timeline and erasure. */
export function userRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  viewRoutes(routes, context);

  adminRoute(routes, {
    path: "users/erase",
    summary: "Erase a user: everything stored about one client, for ever",
    description: "`state` is `erased`, or `accepted` when another process fills the tables or they are far behind.",
    access: "setting",
    body: eraseBody,
    reading: { numbersAreIds: true },
    answer: eraseAnswer,
    run: async ({ body, by }) => {
      const { pool, vault, clock, known, applies, intake, progress } = context;
      // A user who registered a moment ago may not have reached the tables yet.
      if (applies) await progress.waitForAll(await intake.freshEnds(), LIMITS.appliedWaitMs);
      return eraseUser({ pool, vault, clock, by }, body, {
        isKnown: ({ appId, clientId }) => known.isKnown(appId, clientId),
        erase: (user) => erase(context, user),
      });
    },
  });
}

function viewRoutes(routes: FastifyInstance, context: AdminReportContext): void {
  const { apps } = context;

  adminRoute(routes, {
    path: "user",
    summary: "One user: registration, source, device, properties, figures",
    access: "detail",
    query: userQuery,
    answer: userViewAnswer,
    run: async ({ query }) => {
      const app = await apps.findById(Number(query.app_id));
      const clientId = readClientId(query.client_id);
      return existing(await context.reads.read(({ pool }) => viewUser(pool, app, clientId)));
    },
  });

  adminRoute(routes, {
    path: "user/timeline",
    summary: "What happened to one user, newest first",
    description: "Touches, registration and returns, events, orders, refunds and postbacks, page by page.",
    access: "detail",
    query: timelineQuery,
    answer: timelineAnswer,
    run: async ({ query }) => {
      const { app_id, client_id, ...given } = query;
      const app = await apps.findById(Number(app_id));
      const wish = readTimelineWish(readClientId(client_id), given);
      return existing(await context.reads.read(({ pool, cold }) => readTimeline(pool, app, wish, cold)));
    },
  });

  adminRoute(routes, {
    path: "user/search",
    summary: "Find users by one of their ids",
    access: "detail",
    query: userSearchQuery,
    answer: userSearchAnswer,
    run: async ({ query }) => {
      const app = await apps.findById(Number(query.app_id));
      const id = query.q.trim();
      if (id === "") throw new ApiError("badParameter", "q must be an id.");
      return context.reads.read(({ pool }) => searchUsers(pool, app, { id, platforms: PLATFORM_NAMES }));
    },
  });
}

function existing<Answer extends object>(answer: Answer | undefined): Answer {
  if (!answer) throw new ApiError("notRegistered", "There is no user with this client_id.");
  return answer;
}

async function erase(context: EraseContext, { appId, clientId }: UserKey): Promise<Erased> {
  const { applies, progress, intake, known, live, clock } = context;
  // The operator's address and user agent do not belong in the user's record.
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
  const isErased = applies && (await progress.waitFor({ appId, position }, ERASE_WAIT_MS));
  // Not earlier: a look-up would still find the client in the tables and remember it.
  known.forget(appId, clientId);
  live.forget(appId, clientId);
  return { client_id: clientId, state: isErased ? "erased" : "accepted" };
}
