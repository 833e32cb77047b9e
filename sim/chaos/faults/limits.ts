import { gzipSync } from "node:zlib";
import { systemClock } from "../../../src/clock.ts";
import { readConfig } from "../../../src/config.ts";
import { LIMITS } from "../../../src/limits.ts";
import type { Fault, Trouble } from "../fault.ts";
import { type Answer, Guest } from "../guest.ts";

/** A limit: `size` is allowed, and one more is not. */
type Edge = {
  what: string;
  size: number;
  send(guest: Guest, size: number): Promise<Answer>;
  /** The answer beyond the limit: status and code, or the reason reported for the event. */
  beyond: { status: number; code: number; says: RegExp } | { reason: string };
};

const { bodyBytesMax, bodyUnpackedBytesMax } = readConfig({});
const CLIENT = "limits";

const event = (properties: object, name = "limit") => ({ type: "track", event: name, time: systemClock(), properties });
const collect = (guest: Guest, ...events: object[]) =>
  guest.post("event/collect/", { client_id: CLIENT, event_list: events });
/** A body of exactly this many bytes: JSON may be followed by blanks. */
const padded = (body: object, bytes: number) => JSON.stringify(body).padEnd(bytes, " ");
const plain = () => ({ client_id: CLIENT, event_list: [event({})] });
/** An object whose JSON has exactly this many bytes. */
const objectOf = (bytes: number) => ({ a: "x".repeat(bytes - JSON.stringify({ a: "" }).length) });
const nested = (levels: number): object => (levels === 1 ? { a: 1 } : { a: nested(levels - 1) });

const refused = (code: number, says: RegExp, status = 200) => ({ status, code, says });

const EDGES: readonly Edge[] = [
  {
    what: "bytes on the wire",
    size: bodyBytesMax,
    beyond: refused(1413, /larger than \d+ bytes/, 413),
    send: (guest, size) => guest.post("event/collect/", padded(plain(), size)),
  },
  {
    what: "bytes unpacked",
    size: bodyUnpackedBytesMax,
    beyond: refused(1413, /larger than \d+ bytes/, 413),
    send: (guest, size) =>
      guest.post("event/collect/", gzipSync(padded(plain(), size), { level: 1 }), { "content-encoding": "gzip" }),
  },
  {
    what: "events of a request",
    size: LIMITS.eventsPerRequest,
    beyond: refused(1004, /event_list/),
    send: (guest, size) => collect(guest, ...Array.from({ length: size }, (_, index) => event({ index }))),
  },
  {
    what: "characters of a client id",
    size: LIMITS.clientIdLength,
    beyond: refused(1004, /client_id/),
    send: (guest, size) => guest.register("c".repeat(size)),
  },
  {
    what: "ids of a look-up",
    size: LIMITS.userGetIds,
    beyond: refused(1004, /user_list/),
    send: (guest, size) => guest.post("user/get/", { user_list: Array.from({ length: size }, (_, id) => `c${id}`) }),
  },
  {
    what: "bytes of ad_data",
    size: LIMITS.adDataBytes,
    beyond: refused(1004, /ad_data/),
    send: (guest, size) => guest.register("ad-data", { ad_data: objectOf(size) }),
  },
  {
    what: "characters of an event's name",
    size: 50,
    beyond: { reason: "bad_name" },
    send: (guest, size) => collect(guest, event({}, "n".repeat(size))),
  },
  {
    what: "bytes of a text",
    size: LIMITS.propertyTextBytes,
    beyond: { reason: "bad_property" },
    send: (guest, size) => collect(guest, event({ text: "x".repeat(size) })),
  },
  {
    what: "texts of a list",
    size: LIMITS.propertyListLength,
    beyond: { reason: "bad_property" },
    send: (guest, size) => collect(guest, event({ list: Array.from({ length: size }, () => "x") })),
  },
  {
    what: "bytes of an object",
    size: LIMITS.propertyBytes,
    beyond: { reason: "bad_property" },
    send: (guest, size) => collect(guest, event({ object: objectOf(size) })),
  },
  {
    what: "levels of an object",
    size: LIMITS.nestingDepth,
    beyond: { reason: "bad_property" },
    send: (guest, size) => collect(guest, event({ object: nested(size) })),
  },
  {
    what: "size of a number",
    size: Math.floor(LIMITS.propertyNumber),
    beyond: { reason: "bad_property" },
    send: (guest, size) => collect(guest, event({ number: size })),
  },
  {
    what: "bytes of a report's body",
    size: LIMITS.reportBodyBytes,
    beyond: refused(1413, /larger than \d+ bytes/, 413),
    send: (guest, size) => guest.report("user/list", listBody(guest, {}), size),
  },
  {
    what: "rows of a page",
    size: LIMITS.pageSize,
    beyond: refused(1004, /page_size/),
    send: (guest, size) => guest.report("user/list", listBody(guest, { page_size: size })),
  },
];

const listBody = (guest: Guest, more: object) => ({
  app_id: guest.app.appId,
  user_filtering: {},
  event_filtering: {},
  ...more,
});

const limits: Fault = {
  name: "body_limits",
  what: "a body at every limit, which is taken in, and one beyond it, which is refused in the right words",
  kind: "other",
  at: "embedded",
  async inflict({ site, findings }) {
    const guest = await Guest.invite(site);
    findings.equal(8, "a registration", { is: (await guest.register(CLIENT)).code, should: 0 });
    for (const { what, size, send, beyond } of EDGES) {
      const at = await send(guest, size);
      findings.equal(8, `${size} ${what}`, {
        is: [at.status, at.code, at.extra.errors ?? []],
        should: [200, 0, []],
      });
      expectBeyond({ findings }, { what: `${size + 1} ${what}`, answer: await send(guest, size + 1), beyond });
    }
  },
  async mend() {},
};

function expectBeyond(
  { findings }: Pick<Trouble, "findings">,
  { what, answer, beyond }: { what: string; answer: Answer; beyond: Edge["beyond"] },
): void {
  if ("reason" in beyond) {
    const reasons = (answer.extra.errors ?? []).map(({ reason }) => reason);
    findings.equal(8, what, { is: [answer.status, answer.code, reasons], should: [200, 0, [beyond.reason]] });
    return;
  }
  findings.equal(8, what, { is: [answer.status, answer.code], should: [beyond.status, beyond.code] });
  findings.hold(8, beyond.says.test(answer.msg), `${what} is refused with ${JSON.stringify(answer.msg)}`);
}

export const LIMIT_FAULTS: readonly Fault[] = [limits];
