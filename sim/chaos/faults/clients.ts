import { execFileSync } from "node:child_process";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../../../src/clock.ts";
import { LIMITS } from "../../../src/limits.ts";
import type { Random } from "../../market/random.ts";
import type { Fault, Trouble } from "../fault.ts";
import { FILES_MAX, MEMORY_BYTES_MAX, openFiles } from "../promises/maxima.ts";
import { CONNECTIONS_MAX, REQUEST_TIMEOUT_S } from "../site.ts";
import { until } from "../until.ts";

const EVENTS = 60;
const PATH = "/event_center/api/v1/event/collect/";
const SLOW_CLIENTS = 200;
/** The server checks for slow clients at intervals (see http/server.ts), and a busy machine needs more time. */
const CUT_OFF_MS_MAX = REQUEST_TIMEOUT_S * 1000 + 30_000;

/** Half a head, half a body, or a body that comes a byte at a time. */
const HALVES: readonly string[] = [
  "POST",
  `POST ${PATH} HTTP/1.1\r\nhost: x\r\nx: `,
  `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"client_id":`,
  `POST ${PATH} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a"`,
];

class Client {
  readonly socket: Socket;
  isOpen = false;
  /** The part of the answer received so far. */
  heard = "";

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.on("connect", () => (this.isOpen = true));
    this.socket.on("data", (piece) => (this.heard = (this.heard + String(piece)).slice(-500)));
    this.socket.on("error", () => {});
    this.socket.on("close", () => (this.isOpen = false));
  }

  connected(): Promise<void> {
    return until("a client is connected", () => this.isOpen || this.socket.destroyed);
  }
}

const hanging: Fault = {
  name: "hanging_clients",
  what: `${SLOW_CLIENTS} clients send half a request and stay, or a byte of it now and then`,
  kind: "other",
  at: "embedded",
  async inflict(trouble) {
    const { site, random, findings } = trouble;
    const clients = Array.from({ length: SLOW_CLIENTS }, () => new Client(site.url));
    await Promise.all(clients.map((client) => client.connected()));
    const startedMs = elapsedMs();
    for (const { socket } of clients) socket.write(random.pick(HALVES));
    const dripping = drip(clients, random);
    await site.flows(EVENTS);
    await until("whoever is too slow is cut off", () => clients.every(({ isOpen }) => !isOpen), {
      waitMs: CUT_OFF_MS_MAX,
    });
    clearInterval(dripping);
    const tookMs = elapsedMs() - startedMs;
    findings.hold(8, tookMs >= REQUEST_TIMEOUT_S * 900, `slow clients were cut off after ${Math.round(tookMs)} ms`);
  },
  async mend() {},
};

const DRIP_MS = 300;

function drip(clients: readonly Client[], random: Random): NodeJS.Timeout {
  return setInterval(() => {
    for (const { socket, isOpen } of clients) if (isOpen && random.chance(0.3)) socket.write("x");
  }, DRIP_MS);
}

const DEAF_CLIENTS = 20;
/** Fewer requests than may wait on one connection, and enough more that the connection is cut. */
const ASKED = [LIMITS.requestsWaiting - 10, 20 * LIMITS.requestsWaiting];

const deaf: Fault = {
  name: "deaf_clients",
  what: `${DEAF_CLIENTS} clients ask for large answers without a pause and read none of them`,
  kind: "other",
  at: "embedded",
  async inflict({ site, findings }) {
    const clients = Array.from({ length: DEAF_CLIENTS }, () => new Client(site.url));
    await Promise.all(clients.map((client) => client.connected()));
    for (const [index, { socket }] of clients.entries()) {
      socket.pause();
      socket.write("GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n".repeat(ASKED[index % ASKED.length]!));
    }
    await site.flows(EVENTS);
    const figures = await site.figures();
    const memory = figures.get("touchpoint_resident_memory_bytes") ?? Number.POSITIVE_INFINITY;
    findings.hold(
      8,
      memory < MEMORY_BYTES_MAX,
      `the server has ${memory} bytes of memory with clients that do not read`,
    );
    for (const { socket } of clients) socket.destroy();
  },
  async mend() {},
};

const CROWD = 10_000;
const OPENED_AT_ONCE = 250;
const BEYOND = 500;
const HELLO = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

const crowd: Fault = {
  name: "connections",
  what: `${CROWD} clients have a connection open and stay; beyond the maximum others are turned away`,
  kind: "other",
  at: "embedded",
  async inflict(trouble) {
    const { site, findings } = trouble;
    const wanted = Math.min(CROWD, filesMax() - OTHER_FILES - BEYOND);
    if (wanted < CROWD) findings.notes.push(`The system allows ${filesMax()} open files: ${wanted} connections.`);
    const clients = await gather(trouble, wanted);
    await site.flows(EVENTS);
    const kept = clients.filter(({ isOpen, heard }) => isOpen && heard.startsWith("HTTP/1.1 200")).length;
    findings.equal(8, `connections that are kept of ${wanted}`, { is: kept, should: wanted });
    const late = await gather(trouble, BEYOND);
    await until("who is beyond the maximum is turned away", () => openOf([...clients, ...late]) <= CONNECTIONS_MAX);
    await site.flows(EVENTS);
    for (const { socket } of [...clients, ...late]) socket.destroy();
  },
  mend: ({ site }) => until("the connections are gone", () => (openFiles(site.server.pid) ?? 0) < FILES_MAX),
};

const OTHER_FILES = 1_000;

/** Node raises its own soft limit as far as it may, so only the hard limit counts. */
function filesMax(): number {
  const limit = execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim();
  return limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
}

const openOf = (clients: readonly Client[]) => clients.filter(({ isOpen }) => isOpen).length;

/** Each client first makes a request: a connection that sends nothing is cut off. */
async function gather({ site }: Trouble, count: number): Promise<Client[]> {
  const clients: Client[] = [];
  for (let left = count; left > 0; left -= OPENED_AT_ONCE) {
    const group = Array.from({ length: Math.min(left, OPENED_AT_ONCE) }, () => new Client(site.url));
    for (const { socket } of group) socket.write(HELLO);
    await until("clients have their answer, or are turned away", () =>
      group.every(({ heard, socket }) => heard !== "" || socket.destroyed),
    );
    clients.push(...group);
    await sleep(1);
  }
  return clients;
}

export const CLIENT_FAULTS: readonly Fault[] = [hanging, deaf, crowd];
