import type { FastifyInstance } from "fastify";
import { LIMITS } from "../config.ts";
import { adminAnswer, eraseBody } from "../contract/admin.ts";
import { success } from "../contract/envelope.ts";
import { loadUsers } from "../db/user-account.ts";
import { ApiError } from "../errors.ts";
import type { EntryHead } from "../journal/entry.ts";
import { type HttpContext, readClientId } from "./context.ts";

/** What an operator does with single users. */
export function userRoutes(routes: FastifyInstance, context: HttpContext): void {
  routes.post("/admin/api/v1/users/erase", {
    schema: {
      summary: "Erase a user: everything that is stored of one client, for ever",
      description:
        "`state` is `erased`, or `accepted` where the tables are filled by another process or are far behind.",
      ...{ tags: ["admin"], body: eraseBody, response: { 200: adminAnswer } },
    },
    config: { numbersAreIds: true, auditHides: ["client_id"] },
    handler: async (request) => {
      const body = request.body as { app_id: number; client_id: string | number };
      const { appId } = await context.apps.findById(body.app_id);
      return success(await erase(context, appId, readClientId(body.client_id)));
    },
  });
}

async function erase(context: HttpContext, appId: number, clientId: string) {
  const { applies, progress, intake, known, live, pool, clock } = context;
  // Whoever registered a moment ago is still on the way into the tables.
  if (applies) await progress.waitFor(context.durable(), LIMITS.registerWaitMs);
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
