/**
 * Request bodies as SDKs send them. A body is a template of fixed-width digits, patched in place for every request, so
 * that each event is new and the generator costs next to nothing beside the server it measures.
 */
export type BodyMaker = { next(): Buffer; eventsPerBody: number; bytes: number };

const NAMES = ["$MPShow", "$AdShow", "level_up", "battle_end", "shop_open", "item_use", "task_done", "login_reward"];
const SEQUENCE = "#SEQUENCE#";
const CLIENT = "#CLIENT##";
const TIME = "#TIME#######1";

export const CLIENTS = 10_000;
export const clientName = (number: number) => `client-${String(number).padStart(CLIENT.length, "0")}`;

export function makeBodies(options: {
  eventsPerBody: number;
  firstSequence: number;
  nowMs: number;
  clients?: number;
}): BodyMaker {
  const { eventsPerBody, nowMs, clients = CLIENTS } = options;
  const events = Array.from({ length: eventsPerBody }, (_, index) => eventText(NAMES[index % NAMES.length]!, index));
  const text = `{"client_id":"client-${CLIENT}","event_list":[${events.join(",")}],"$flush_time":${nowMs}}`;
  const body = Buffer.from(text);
  const clientAt = body.indexOf(CLIENT);
  const sequencesAt = positionsOf(body, SEQUENCE);
  const timesAt = positionsOf(body, TIME);
  let sequence = options.firstSequence;
  let request = 0;
  return {
    eventsPerBody,
    bytes: body.length,
    next() {
      body.write(String(request % clients).padStart(CLIENT.length, "0"), clientAt, "latin1");
      for (let index = 0; index < eventsPerBody; index += 1) {
        body.write(String(sequence).padStart(SEQUENCE.length, "1"), sequencesAt[index]!, "latin1");
        body.write(
          String(nowMs + Math.floor((sequence - options.firstSequence) / 2000)).padStart(TIME.length, "0"),
          timesAt[index]!,
          "latin1",
        );
        sequence += 1;
      }
      request += 1;
      return body;
    },
  };
}

function eventText(event: string, index: number): string {
  const extra =
    event === "$AdShow"
      ? `"$ecpm":12.5,"$ad_type":"reward","$adn_type":"csj"`
      : `"level":${index % 80},"zone":"north-${index % 7}"`;
  return `{"type":"track","event":"${event}","time":${TIME},"time_free":false,"properties":{"$lib":"MiniGame","$lib_version":"4.8.1","$os":"android","$os_version":"14","$brand":"XIAOMI","$model":"23127PN0CC","$network_type":"wifi","$scene":"1069","$screen_width":412,"$screen_height":915,"sequence":${SEQUENCE},${extra}}}`;
}

function positionsOf(body: Buffer, marker: string): number[] {
  const positions: number[] = [];
  for (let at = body.indexOf(marker); at >= 0; at = body.indexOf(marker, at + 1)) positions.push(at);
  return positions;
}
