import { bytesOf, joined, slot, type Template, template } from "./template.ts";

const NAMES = ["$MPShow", "$AdShow", "level_up", "battle_end", "shop_open", "item_use", "task_done", "login_reward"];
const CLIENT_DIGITS = 9;
const SEQUENCE_DIGITS = 10;
const TIME_DIGITS = 13;
/** A leading zero is no number in JSON. */
const FIRST_SEQUENCE = 10 ** (SEQUENCE_DIGITS - 1);
const EVENTS_PER_MS = 2_000;

export const CLIENTS = 10_000;
export const clientName = (number: number) => `client-${String(number).padStart(CLIENT_DIGITS, "0")}`;

/** Bodies as SDKs send them. Each event is new. */
export function collectBody(options: {
  eventsPerBody: number;
  firstSequence: number;
  nowMs: number;
  clients?: number;
}): Template {
  const { eventsPerBody, firstSequence, nowMs, clients = CLIENTS } = options;
  const events = Array.from({ length: eventsPerBody }, (_, index) => {
    const counting = { perRequest: eventsPerBody, index };
    const sequence = slot(SEQUENCE_DIGITS, { ...counting, offset: FIRST_SEQUENCE + firstSequence });
    const time = slot(TIME_DIGITS, { ...counting, divide: EVENTS_PER_MS, offset: nowMs });
    const event = NAMES[index % NAMES.length]!;
    return template`{"type":"track","event":"${event}","time":${time},"time_free":false,"properties":{"$lib":"MiniGame","$lib_version":"4.8.1","$os":"android","$os_version":"14","$brand":"XIAOMI","$model":"23127PN0CC","$network_type":"wifi","$scene":"1069","$screen_width":412,"$screen_height":915,"sequence":${sequence},${ownProperties(event, index)}}}`;
  });
  const client = slot(CLIENT_DIGITS, { modulo: clients });
  return template`{"client_id":"client-${client}","event_list":[${joined(events, ",")}],"$flush_time":${nowMs}}`;
}

function ownProperties(event: string, index: number): string {
  return event === "$AdShow"
    ? `"$ecpm":12.5,"$ad_type":"reward","$adn_type":"csj"`
    : `"level":${index % 80},"zone":"north-${index % 7}"`;
}

export function postRequest(path: string, body: Template): Template {
  return template`POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nuser-agent: bench\r\ncontent-length: ${bytesOf(body)}\r\n\r\n${body}`;
}
