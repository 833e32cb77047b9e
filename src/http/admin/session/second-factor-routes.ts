import type { FastifyInstance } from "fastify";
import {
  beginOwnSecondFactor,
  confirmOwnSecondFactor,
  dropOwnSecondFactor,
} from "../../../admin/session/second-factor.ts";
import { emptyData, envelopeSchema } from "../../../contract/envelope.ts";
import {
  begunSecondFactor,
  codeBody,
  passwordOnlyBody,
  secondFactorCodes,
  secondFactorState,
} from "../../../contract/setting/session.ts";
import { findAdminUser, hasPassword } from "../../../db/admin-user.ts";
import { countRecoveryCodes } from "../../../db/second-factor.ts";
import { adminRoute } from "../admin-route.ts";
import { personOf } from "./own-session-routes.ts";
import type { SessionContext } from "./session-context.ts";
import { type Gate, provenByPassword, withCode } from "./sign-in-gate.ts";

/** The second factor of the person who calls: codes by time of an authenticator app, and recovery codes. */
export function secondFactorRoutes(routes: FastifyInstance, context: SessionContext, gate: Gate): void {
  stateRoute(routes, context);
  setUpRoutes(routes, context, gate);
  removeRoute(routes, context, gate);
}

function stateRoute(routes: FastifyInstance, context: SessionContext): void {
  const { pool, config } = context;
  adminRoute(routes, {
    path: "session/second-factor",
    summary: "Whether the caller has a second factor",
    access: "own",
    answer: envelopeSchema(secondFactorState),
    run: async ({ request }) => {
      const { user } = await personOf(context, request);
      const found = (await findAdminUser(pool, user.name))!;
      return {
        is_on: found.hasSecondFactor,
        is_required: found.grants.some(({ role }) => config.secondFactorRoles.has(role)),
        has_password: hasPassword(found),
        recovery_codes_left: await countRecoveryCodes(pool, user.userId),
      };
    },
  });
}

function setUpRoutes(routes: FastifyInstance, context: SessionContext, gate: Gate): void {
  const { limits } = gate;
  adminRoute(routes, {
    path: "session/second-factor",
    summary: "Begin to set up the second factor",
    description: "Needs the current password, so that a stolen session cannot lock its owner out.",
    access: "own",
    body: passwordOnlyBody,
    answer: envelopeSchema(begunSecondFactor),
    run: async ({ body, request }) => {
      const { desk, user, session } = await personOf(context, request);
      const found = (await findAdminUser(context.pool, user.name))!;
      const given = { name: user.name, session, password: body.password ?? "" };
      if (hasPassword(found)) await provenByPassword(context, request, gate, given);
      return beginOwnSecondFactor({ ...desk, user, session });
    },
  });

  adminRoute(routes, {
    path: "session/second-factor/confirm",
    summary: "Switch the second factor on with its first code",
    description: "Answers recovery codes, once. The caller's other sessions end.",
    access: "own",
    body: codeBody,
    answer: envelopeSchema(secondFactorCodes),
    run: async ({ body, request }) => {
      const { desk, user, session } = await personOf(context, request);
      const given = { limits, key: `person ${user.userId}`, code: body.code, name: user.name };
      const confirm = () => confirmOwnSecondFactor({ ...desk, user, session }, body);
      const codes = await withCode(context, request, given, confirm);
      context.seenSessions.forgetPerson(user);
      return codes;
    },
  });
}

function removeRoute(routes: FastifyInstance, context: SessionContext, { limits }: Gate): void {
  adminRoute(routes, {
    path: "session/second-factor/remove",
    summary: "Switch the second factor off, with a code of it",
    description: "The caller's other sessions end.",
    access: "own",
    body: codeBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body, request }) => {
      const { desk, user, session } = await personOf(context, request);
      const given = { limits, key: `person ${user.userId}`, code: body.code, name: user.name };
      await withCode(context, request, given, () => dropOwnSecondFactor({ ...desk, user, session }, body));
      context.seenSessions.forgetPerson(user);
      return {};
    },
  });
}
