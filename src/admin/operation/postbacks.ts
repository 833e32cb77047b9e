import type { Static } from "typebox";
import { resendBody } from "../../contract/setting/postback.ts";
import { type GivenTexts, type ResendWish, readResend } from "../../domain/postback/postback-request.ts";
import { readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import { platformOfLink } from "../../platform/registry.ts";
import { type Resent, resendPostbacks } from "../../postback/resend.ts";
import { knownAppRules } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type ResendBody = Static<typeof resendBody>;

/** Sends failed or skipped postbacks again. */
export function resend(desk: Desk, body: ResendBody): Promise<Resent> {
  return act(desk, {
    action: "postback/resend",
    schema: resendBody,
    body,
    // Client ids kept in the audit log would outlive the erasure of their users.
    hides: ["postbacks"],
    run: async (tx) => {
      const app = await knownAppRules(tx, body.app_id);
      return resendPostbacks(tx, app, wishOf(body), desk.clock());
    },
  });
}

const TEXTS = ["event_type", "trace_id", "status", "reason", "ad_platform", "from", "to"] as const;

function wishOf(body: ResendBody): ResendWish {
  const texts = TEXTS.map((name) => [name, body[name] === undefined ? undefined : String(body[name])]);
  const given = {
    ...withPlatform(Object.fromEntries(texts)),
    client_id: body.client_id === undefined ? undefined : readClientId(body.client_id),
  };
  const postbacks = body.postbacks?.map(({ client_id, event_type, subject }) => ({
    clientId: readClientId(client_id),
    eventType: event_type,
    subject,
  }));
  return readResend(given, postbacks);
}

/** Replaces the platform's name by the one that reports use. */
export function withPlatform(texts: GivenTexts): GivenTexts {
  if (texts.ad_platform === undefined) return texts;
  const platform = platformOfLink(texts.ad_platform);
  if (!platform) throw new ApiError("badParameter", "ad_platform is not the name of a platform.");
  return { ...texts, ad_platform: platform.name };
}
