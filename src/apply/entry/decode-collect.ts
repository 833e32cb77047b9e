import { hash } from "node:crypto";
import { propertiesOf, typeOfEvent } from "../../domain/event/admission.ts";
import type { KeyShape } from "../../domain/event/plain/key-shape.ts";
import { PlainBody, type PlainEvent, type PlainMembers } from "../../domain/event/plain/plain-body.ts";
import { PlainText } from "../../domain/event/plain/plain-text.ts";
import { isObject, type JsonObject, parseJson, textOf } from "../../domain/json.ts";
import { REFUND_EVENT } from "../../domain/refund.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import type { EntryHead } from "../../journal/entry.ts";
import type { DecodedEvent, EventShape } from "./sent-event.ts";
import type { SentEvents } from "./sent-events.ts";
import {
  AD_SHOWN,
  type Address,
  addressFrom,
  adViewIn,
  correctionsOf,
  decodedEvent,
  storedForm,
} from "./stored-form.ts";
import { isUsableTime } from "./usable-time.ts";

/** The head of an entry, and the user it is about. */
export type Said = { head: EntryHead; user: UserKey };

/** The events of a call of collect. */
export function decodeCollect(said: Said, text: Buffer, into: SentEvents) {
  try {
    return decodeEvents(said, collectedIn(text), into);
  } finally {
    read.forget();
    texts.forget();
  }
}

const read = new PlainBody();
const texts = new PlainText();

/** The events of a body, of which the plain ones need not be made into objects. */
type Collected = {
  members: PlainMembers;
  count: number;
  plainAt: (index: number) => PlainEvent | undefined;
  objectAt: (index: number) => JsonObject;
};

function collectedIn(text: Buffer): Collected {
  if (read.read(text)) {
    const { members, count, events } = read;
    return {
      members,
      count,
      plainAt: (index) => (events[index]!.sent ? undefined : events[index]),
      objectAt: (index) => read.objectOf(events[index]!),
    };
  }
  const body = parseJson(text);
  if (!isObject(body)) throw new Error("The body of the entry is not an object.");
  const list = body.event_list as JsonObject[];
  return { members: body, count: list.length, plainAt: () => undefined, objectAt: (index) => list[index]! };
}

function decodeEvents({ head, user }: Said, { members, count, plainAt, objectAt }: Collected, into: SentEvents) {
  const rejectedIndexes = head.rejected && new Set(head.rejected.map(([index]) => index));
  const address = addressFrom(textOf(members.client_ip) || head.ip, textOf(members.client_ua) || head.ua);
  const corrections = correctionsOf(head);
  const by = { user, kind: head.kind };
  const { count: first } = into;
  for (let index = 0; index < count; index += 1) {
    if (rejectedIndexes?.has(index)) continue;
    const plain = corrections?.has(index) ? undefined : plainAt(index);
    if (plain && isStoredPlain(plain, members)) {
      into.add(plainEvent(plain, { user, address }));
      continue;
    }
    const sent = objectAt(index);
    const raw = {
      type: typeOfEvent(sent, members.type) as EventShape["type"],
      event: sent.event as string,
      atMs: Math.floor(sent.time as number),
      properties: propertiesOf(sent),
    };
    const asStored = storedForm(raw, { corrections, index, body: members, address });
    into.add(decodedEvent(raw, asStored, by));
  }
  const events = into.since(first);
  return { kind: "events" as const, head, user, received: count, rejected: head.rejected ?? [], events };
}

/** Events whose properties are read when they are decoded. */
const READ_EVENTS: ReadonlySet<string> = new Set(["$PayEvent", "$BindThirdPlatform", REFUND_EVENT]);

/** Whether an event can be stored without its properties being read. */
function isStoredPlain({ name, hasType, timeMs, shape }: PlainEvent, { type }: PlainMembers): boolean {
  const isTrack = hasType || type === "track";
  return isTrack && !READ_EVENTS.has(name) && isUsableTime(timeMs) && !hasAddress(shape);
}

const addressed = new WeakMap<KeyShape, boolean>();

function hasAddress(shape: KeyShape): boolean {
  let has = addressed.get(shape);
  if (has === undefined) {
    has = shape.keys.includes("$ip") || shape.keys.includes("$ua");
    addressed.set(shape, has);
  }
  return has;
}

function plainEvent(event: PlainEvent, { user, address }: { user: UserKey; address: Address }): DecodedEvent {
  const { name, timeMs, shape } = event;
  texts.write(read, event, address.added);
  const { bytes, until, printUntil } = texts;
  return {
    appId: user.appId,
    type: "track",
    event: name,
    names: shape.keys,
    atMs: timeMs,
    fingerprint: hash("md5", bytes.subarray(until, printUntil)),
    properties: texts,
    told: name === AD_SHOWN ? { adView: adViewIn((key) => read.valueOf(event, key)) } : undefined,
  };
}
