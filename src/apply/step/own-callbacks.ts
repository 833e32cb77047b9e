import type { UserAccount } from "../../db/user-account.ts";
import type { JsonObject } from "../../domain/json.ts";
import { POSTBACK_STATUS } from "../../domain/postback/postback.ts";
import { callbackLaneOf } from "../../domain/postback/postback-book.ts";
import { md5 } from "../../domain/user/identity.ts";
import type { Facts } from "../facts/facts.ts";
import { createdAt, type Row } from "./postback-row.ts";

/** Callbacks to the app's own systems for a batch: the sources of users, and the events that were asked for. */
export function callbackRows(
  { settings, tallies }: Facts,
  { regrouped, receivedAtMs }: { regrouped: readonly UserAccount[]; receivedAtMs: number },
): Row[] {
  const attributions = regrouped.flatMap((user) => {
    if (!user.isRegistered || !settings.of(user.appId).book?.own.attribution) return [];
    const content = attributionOf(user);
    // Each source is sent once, however often the user is decided again.
    const subject = md5(JSON.stringify(content));
    return [
      rowOf(user, {
        kind: "attribution",
        subject,
        atMs: user.registeredAtMs,
        createdAtMs: receivedAtMs,
        content,
      }),
    ];
  });
  const events = tallies.ownEvents.map(({ user, event, receivedAtMs: createdAtMs }) => {
    const content = {
      event: event.event,
      time: event.atMs,
      properties: event.properties,
      attribution: attributionOf(user),
    };
    return rowOf(user, {
      kind: "event",
      subject: event.fingerprint,
      atMs: event.atMs,
      createdAtMs,
      content,
    });
  });
  return [...attributions, ...events];
}

/** A user's source, under the reports' field names. */
function attributionOf(user: UserAccount): JsonObject {
  return {
    ad_platform: user.adPlatform,
    method: user.method,
    turbo_promoted_object_id: user.campaignId,
    advertiser_id: user.advertiserId,
    gid: user.gid,
    aid: user.aid,
    cid: user.cid,
    csite: user.csite,
    channel: user.channel,
    touched_at: user.touchedAtMs,
    registered_at: user.registeredAtMs,
  };
}

function rowOf(
  { appId, clientId }: UserAccount,
  told: { kind: "attribution" | "event"; subject: string; atMs: number; createdAtMs: number; content: JsonObject },
): Row {
  const { kind, subject, atMs, createdAtMs, content } = told;
  return {
    postback: {
      appId,
      clientId,
      subject,
      atMs,
      ...createdAt(createdAtMs),
      eventType: `$${kind}`,
      moment: kind,
      adPlatform: "",
      traceId: "",
      ruleId: 0,
      valueCents: null,
      isPassed: true,
      reason: "",
      status: POSTBACK_STATUS.waiting,
    },
    lane: callbackLaneOf(appId, kind),
    content,
  };
}
