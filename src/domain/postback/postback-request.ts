import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { isDay } from "../calendar.ts";
import { storable } from "../json.ts";
import {
  POSTBACK_EVENT_TYPES,
  POSTBACK_STATUS,
  POSTBACK_STATUS_NAMES,
  type PostbackEventType,
  type PostbackStatus,
} from "./postback.ts";

/** The parameters of a request about postbacks, as texts by name. */
export type GivenTexts = Readonly<Record<string, string | undefined>>;

/** The postbacks to list; absent fields do not restrict. */
export type ListWish = {
  status?: PostbackStatus | undefined;
  adPlatform?: string | undefined;
  eventType?: string | undefined;
  clientId?: string | undefined;
  /** List only those after this place. */
  after?: ListPosition | undefined;
  limit: number;
};

/** A postback's place in the list. */
export type ListPosition = { createdAtMs: number; clientId: string; eventType: string; subject: string };

/** A place as an opaque text, which the caller passes back. */
export function positionText({ createdAtMs, clientId, eventType, subject }: ListPosition): string {
  return Buffer.from(JSON.stringify([createdAtMs, clientId, eventType, subject])).toString("base64url");
}

const LISTED_DEFAULT = 50;

export function readList(given: GivenTexts): ListWish {
  return {
    status: given.status === undefined ? undefined : readStatus(given.status),
    adPlatform: given.ad_platform,
    eventType: given.event_type === undefined ? undefined : readListedType(given.event_type),
    clientId: given.client_id,
    after: given.after === undefined ? undefined : readPosition(given.after),
    limit: given.limit === undefined ? LISTED_DEFAULT : readLimit(given.limit),
  };
}

/** The key of a postback within an app. */
export type GivenPostback = { clientId: string; eventType: string; subject: string };

/** The postbacks to resend: a client's, those that ended in one way, or the selected ones. */
export type ResendWish =
  | { kind: "selected"; postbacks: readonly GivenPostback[] }
  | { kind: "client"; clientId: string; eventType?: string | undefined; traceId?: string | undefined }
  | {
      kind: "ended";
      status: PostbackStatus;
      reason?: string | undefined;
      adPlatform?: string | undefined;
      days?: Days | undefined;
    };

/** Why a postback is not resent. */
export type ResendRefusal = "accepted" | "waiting" | "organic" | "takes_none" | "no_account" | "user_gone";

/** Local days, both ends included. */
export type Days = { fromDay: string; toDay: string };

const OF_CLIENT = ["event_type", "trace_id"];
const OF_ENDED = ["reason", "ad_platform", "from", "to"];

export function readResend(given: GivenTexts, postbacks?: readonly GivenPostback[]): ResendWish {
  const { client_id: clientId, status, reason } = given;
  if ([clientId, status, postbacks].filter((selection) => selection !== undefined).length !== 1) {
    throw bad("Name either client_id, or status: 2 for failed ones, 3 for skipped ones; or the postbacks.");
  }
  if (postbacks) return readSelected(given, postbacks);
  const stray = (clientId === undefined ? OF_CLIENT : OF_ENDED).find((name) => given[name] !== undefined);
  if (stray !== undefined) throw bad(`${stray} goes with ${clientId === undefined ? "client_id" : "status"}.`);
  if (clientId !== undefined) {
    const eventType = given.event_type === undefined ? undefined : readToldType(given.event_type);
    return { kind: "client", clientId, eventType, traceId: given.trace_id };
  }
  const ended = readStatus(status!);
  if (ended !== POSTBACK_STATUS.givenUp && ended !== POSTBACK_STATUS.skipped) {
    throw bad("Only failed (status 2) or skipped (status 3) postbacks are sent again.");
  }
  const hasDays = given.from !== undefined || given.to !== undefined;
  const days = hasDays ? readDays({ from: given.from, to: given.to }) : undefined;
  return { kind: "ended", status: ended, reason, adPlatform: given.ad_platform, days };
}

function readSelected(given: GivenTexts, postbacks: readonly GivenPostback[]): ResendWish {
  const stray = [...OF_CLIENT, ...OF_ENDED].find((name) => given[name] !== undefined);
  if (stray !== undefined) throw bad(`${stray} does not go with postbacks.`);
  for (const { eventType } of postbacks) readToldType(eventType);
  return { kind: "selected", postbacks };
}

export function readDays({ from = "", to = "" }: { from?: string | undefined; to?: string | undefined }): Days {
  if (!isDay(from) || !isDay(to)) throw bad("from and to must be days such as 2026-11-15.");
  if (from > to) throw bad("from is after to.");
  return { fromDay: from, toDay: to };
}

function readStatus(text: string): PostbackStatus {
  const status = Object.values(POSTBACK_STATUS).find((known) => String(known) === text);
  if (status !== undefined) return status;
  throw bad(`status must be ${POSTBACK_STATUS_NAMES.map((name, number) => `${number} (${name})`).join(", ")}.`);
}

export function readToldType(text: string): PostbackEventType {
  const known = POSTBACK_EVENT_TYPES.find((type) => type === text);
  if (known !== undefined) return known;
  throw bad(`event_type must be one of ${POSTBACK_EVENT_TYPES.join(", ")}.`);
}

/** The list also holds callbacks to the app's own systems. */
function readListedType(text: string): string {
  return ["$attribution", "$event"].includes(text) ? text : readToldType(text);
}

function readPosition(text: string): ListPosition {
  const [createdAtMs, clientId, eventType, subject] = listOf(text);
  const isPosition = [clientId, eventType, subject].every((part) => typeof part === "string");
  if (!Number.isSafeInteger(createdAtMs) || !isPosition) throw bad("after is not a place of this list.");
  return { createdAtMs, clientId, eventType, subject } as ListPosition;
}

function listOf(text: string): unknown[] {
  try {
    const read: unknown = storable(JSON.parse(Buffer.from(text, "base64url").toString()));
    return Array.isArray(read) ? read : [];
  } catch {
    return [];
  }
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1 && limit <= LIMITS.postbacksListed) return limit;
  throw bad(`limit must be a whole number from 1 to ${LIMITS.postbacksListed}.`);
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
