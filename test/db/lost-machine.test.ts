import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ApplyThread } from "../../src/apply/apply-thread.ts";
import type { WorkerMessage, WorkerSettings } from "../../src/apply/worker.ts";
import { lockCursor } from "../../src/db/journal-cursor.ts";
import { Server as DatabaseServer } from "../../src/db/server/server.ts";
import { MIB } from "../../src/limits.ts";
import { ROOT } from "../process/launch.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { connectionTo } from "../support/shared-server.ts";
import { ApplyStage, claim, ERASURE_KEY } from "./apply-stage.ts";
import { log } from "./temp-database.ts";

/** A way to the shared PostgreSQL on which a machine can vanish: nothing passes any more, and nobody hangs up. */
class Line {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];

  private constructor(server: Server, { host, port }: pg.ClientConfig) {
    this.#server = server;
    server.on("connection", (near) => {
      const far = host!.startsWith("/") ? connect(join(host!, `.s.PGSQL.${port}`)) : connect(port!, host);
      this.#sockets.push(near, far);
      for (const socket of [near, far]) socket.on("error", () => {});
      near.pipe(far);
      far.pipe(near);
    });
  }

  static async open(target: pg.ClientConfig): Promise<Line> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Line(server, target);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are made later reach another machine. */
  vanish(): void {
    for (const socket of this.#sockets) socket.unpipe();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

let stage: ApplyStage;
let target: pg.ClientConfig;
let line: Line;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(async () => {
  stage.term = await claim(stage.pool);
  await stage.begin();
  target = await new DatabaseServer(connectionTo(stage.database.name)).target(PATIENCE_MS);
  line = await Line.open(target);
  return () => line.close();
});
afterAll(() => stage.close());

function settings(): Omit<WorkerSettings, "written"> {
  const { user, password = "" } = target;
  const url = `postgres://${user}:${password}@127.0.0.1:${line.port}/${stage.database.name}?sslmode=disable`;
  return {
    connection: { kind: "url", url, sessions: "own" },
    journal: { kind: "file", id: stage.journal.id, dir: stage.journal.dir },
    logLevel: "silent",
    eventRetentionDays: 0,
    dataDir: stage.journal.dir,
    lakeMemoryBytes: 256 * MIB,
    erasureKey: ERASURE_KEY,
    terms: [stage.term],
    sessionName: "apply",
    largeTurn: new SharedArrayBuffer(4),
  };
}

/** The built script, because a thread runs no TypeScript. */
const built = (path: string) => pathToFileURL(join(ROOT, "dist/src/apply", path));

test("a batch whose machine has vanished is applied on another connection once the term is replaced", async () => {
  await stage.register("u");
  const inTheWay = await stage.pool.connect();
  await inTheWay.query("begin");
  await lockCursor(inTheWay, stage.cursor);
  const module = (await import(built("apply-thread.js").href)) as { ApplyThread: typeof ApplyThread };
  const events = { onApplied: () => {}, onStuck: () => {} };
  const thread = new module.ApplyThread({ settings: settings(), ...events, log, endedTermMsMax: 100 });
  try {
    const { durable } = stage.journal;
    thread.wake({ partition: 0, until: durable, writtenBytes: durable });
    await expect.poll(async () => (await waiting()).length).toBe(1);
    line.vanish();
    // On the machine that takes its place there are no sessions of the old one.
    for (const { pid } of await waiting()) await stage.pool.query("select pg_terminate_backend($1::int)", [pid]);
    await inTheWay.query("rollback");
    void thread.hold([undefined], "lost");
    stage.term = await claim(stage.pool);
    await thread.hold([stage.term], "lost");
    await expect.poll(() => stage.count("user_account")).toBe(1);
  } finally {
    inTheWay.release();
    await thread.stop(PATIENCE_MS);
  }
});

test("a thread that is in no batch goes by a new term at once, and says so", async () => {
  const written = new SharedArrayBuffer(24);
  const workerData: WorkerSettings = { ...settings(), written };
  const worker = new Worker(built("worker.js"), { workerData });
  const held: number[] = [];
  worker.on("message", (message: WorkerMessage) => {
    if (message.kind === "holds") held.push(message.change);
  });
  worker.postMessage({ kind: "terms", terms: [undefined], change: 1 });
  await expect.poll(() => held).toEqual([1]);
  worker.postMessage({ kind: "terms", terms: [stage.term], change: 2 });
  await expect.poll(() => held).toEqual([1, 2]);
  worker.postMessage({ kind: "stop" });
  await once(worker, "exit");
});

async function waiting(): Promise<{ pid: number }[]> {
  const { rows } = await stage.pool.query(
    "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
  );
  return rows;
}
