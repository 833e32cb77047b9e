import type { FastifyInstance, FastifyRequest } from "fastify";
import { type AuthorisingDesk, beginAuthorising, returnAuthorised } from "../../../admin/setting/authorisations.ts";
import { chooseAuthorised } from "../../../admin/setting/authorised-accounts.ts";
import {
  authoriseBody,
  authoriseChooseBody,
  authoriseFormAnswer,
  authoriseReturnBody,
  begunAnswer,
  chosenAnswer,
  returnedAnswer,
} from "../../../contract/setting/authorisation.ts";
import { mayIn } from "../../../domain/access/role.ts";
import { callable } from "../../../domain/network.ts";
import { ApiError } from "../../../errors.ts";
import { Sender } from "../../../outbound/sender.ts";
import { AUTHORISED_PLATFORMS, authorisationOf } from "../../../platform/registry.ts";
import { adminRoute } from "../admin-route.ts";
import { baseUrlOf } from "../base-url.ts";
import type { SettingContext } from "./setting-context.ts";

/**
 * The page of the console to which platforms send people back. The session's cookie is SameSite=Strict, so the browser
 * does not send it with a navigation that another site has begun. It does not need to: the page is the same for everybody,
 * and its script hands the code over in a call of its own, with the cookie and the session's CSRF token.
 */
const REDIRECT_PATH = "/console/authorised";
const DEADLINE_MS = 20_000;
/** People who come back at the same moment, in this process. */
const AT_ONCE_MAX = 4;

/** Connecting accounts by authorising us at the platform. */
export function authorisationRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { config } = context;
  const mayCallPrivate = config.platformPrivateNetworks;
  let calling = 0;

  adminRoute(routes, {
    path: "accounts/authorise",
    summary: "Platforms whose accounts can be connected by authorisation",
    access: "detail",
    apps: "some",
    answer: authoriseFormAnswer,
    run: async () => ({ platforms: AUTHORISED_PLATFORMS.map(formOf), redirect_path: REDIRECT_PATH }),
  });

  adminRoute(routes, {
    path: "accounts/authorise",
    summary: "Begin to authorise at a platform",
    description:
      "Answers the address of the platform's page. The authorisation belongs to the caller's session, lasts 15 minutes " +
      "and is used once; a holder of the admin token cannot begin one.",
    access: "setting",
    body: authoriseBody,
    answer: begunAnswer,
    run: async ({ body, request }) => {
      const redirectUrl = redirectUrlOf(request, body.base_url);
      const desk = { ...deskOf(context, request), mayCallPrivate, redirectUrl };
      return beginAuthorising(desk, body);
    },
  });

  adminRoute(routes, {
    path: "accounts/authorise/return",
    summary: "Hand over what the platform has sent back, and list the accounts",
    description:
      "Uses up the state and the code. The tokens wait, sealed, until accounts are chosen: half an hour at most.",
    access: "setting",
    apps: "some",
    body: authoriseReturnBody,
    answer: returnedAnswer,
    run: async ({ body, request }) => {
      if (calling >= AT_ONCE_MAX)
        throw new ApiError("overloaded", "Others are being authorised at this moment: try again.", { retryAfterS: 5 });
      const sender = new Sender({ deadlineMs: DEADLINE_MS, connectionsMax: 1, mayCall: callable({ mayCallPrivate }) });
      calling += 1;
      try {
        return await returnAuthorised({ ...deskOf(context, request), sender }, body);
      } finally {
        calling -= 1;
        sender.close();
      }
    },
  });

  adminRoute(routes, {
    path: "accounts/authorise/choose",
    summary: "Connect the chosen accounts",
    description:
      "Creates accounts, or gives existing ones the new tokens, which all accounts of the authorisation share.",
    access: "setting",
    apps: "some",
    body: authoriseChooseBody,
    answer: chosenAnswer,
    run: async ({ body, request }) => chooseAuthorised(deskOf(context, request), body),
  });
}

/** The app of an authorisation is known only to its row: the act asks whether the person may still change it. */
function deskOf({ pool, vault, clock }: SettingContext, { by, actor }: FastifyRequest): AuthorisingDesk {
  const maySet = (appId: number) => mayIn(actor.grants, "setting", appId);
  return { pool, vault, clock, by, session: actor.session, maySet };
}

function formOf(platform: string) {
  const { id, secret, scope } = authorisationOf(platform)!.client;
  return { ad_platform: platform, fields: [id, secret, ...(scope === undefined ? [] : [scope])] };
}

/** A browser names the console's origin itself; what the body says must agree with it. */
function redirectUrlOf(request: FastifyRequest, given: string | undefined): string {
  const { origin } = request.headers;
  const own = origin === undefined || !URL.canParse(origin) ? undefined : origin;
  const base = baseUrlOf(request, given ?? own);
  if (own !== undefined && new URL(base).origin !== new URL(own).origin)
    throw new ApiError("badParameter", `base_url must be the address of this console, ${own}.`);
  return new URL(REDIRECT_PATH, base).href;
}
