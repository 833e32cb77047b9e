import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { audit, FLAWLESS, Load } from "../../sim/chaos/nodes/load.ts";
import { isAlive, postmasterOf } from "../../sim/chaos/postmaster.ts";
import { eventually } from "../support/patience.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { Attempt, environment, makeDataDir, ROOT } from "./launch.ts";

test("SIGTERM under load ends with exit code 0, no database and no lock left, and everything acknowledged is there after the next start", async () => {
  const dataDir = prepareDataDir();
  let server = await TouchpointProcess.start({ dataDir });
  const app = await server.createApp();
  const load = new Load(app);
  try {
    load.begin(server.url);
    await load.reach(500);
    expect(isAlive(postmasterOf(dataDir)!)).toBe(true);
    await stopTwice(server, "SIGTERM");
    await load.pause();
    server = await TouchpointProcess.start({ dataDir });
    await server.settle();
    const pool = server.database();
    expect(await audit(pool, app, load)).toEqual(FLAWLESS);
    await load.finish(server.url);
    await server.settle();
    expect(await audit(pool, app, load)).toEqual(FLAWLESS);
    await pool.end();
  } finally {
    await load.pause();
    await server.kill();
    await cleanUp(dataDir);
  }
});

/** A second signal, as from a second Ctrl-C, does not cut the stop short. */
async function stopTwice(server: TouchpointProcess, signal: "SIGTERM" | "SIGINT"): Promise<void> {
  const exited = new Promise((resolve) => server.child.once("exit", (...how) => resolve(how)));
  server.child.kill(signal);
  await sleep(5);
  server.child.kill(signal);
  expect(await exited).toEqual([0, null]);
  expect(postmasterOf(server.dataDir)).toBeUndefined();
  expect(existsSync(join(server.dataDir, "lock.json"))).toBe(false);
}

test("clients that hang, trickle or only listen do not prevent a clean stop by SIGINT; a request under way is still answered", async () => {
  const dataDir = prepareDataDir();
  let server = await TouchpointProcess.start({ dataDir });
  const sockets: Socket[] = [];
  try {
    const app = await server.createApp();
    expect((await server.register(app, "slow")).code).toBe(0);
    const speak = async (text: string) => {
      const socket = await dial(server.url);
      sockets.push(socket);
      socket.write(text);
      return socket;
    };
    const event = { type: "track", event: "slow", time: Date.now(), properties: {} };
    const body = JSON.stringify({ client_id: "slow", event_list: [event] });
    const head = (path: string, bytes: number) =>
      `POST ${path}?access_token=${app.accessToken} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`;
    const collect = head("/event_center/api/v1/event/collect/", body.length);
    await speak("");
    await speak("POST /event_center/api/v1/event/coll");
    await speak(`${collect}${body.slice(0, 10)}`);
    await speak(`${head("/event_center/api/v1/user/register/", 5_000)}{"client_id":`);
    await speak(
      `GET /event_center/api/v1/event/stream?app_id=${app.appId} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.appKey}\r\n\r\n`,
    );
    const finishing = await speak(`${collect}${body.slice(0, 20)}`);
    const answer = answerTo(finishing);
    // Connections are accepted in turn: when two later ones have their answers, everything sent before has been read.
    for (let round = 0; round < 2; round += 1) await answerTo(await speak("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"));
    const stopped = stopTwice(server, "SIGINT");
    await eventually(() => expect(fetch(server.url)).rejects.toThrow());
    finishing.write(body.slice(20));
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*"code":0,/);
    await stopped;

    server = await TouchpointProcess.start({ dataDir });
    await server.settle();
    const pool = server.database();
    expect((await pool.query("select client_id, event from event")).rows).toEqual([
      { client_id: "slow", event: "slow" },
    ]);
    await pool.end();
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.kill();
    await cleanUp(dataDir);
  }
});

/** The first bytes that the server says; nothing when it closes the connection instead. */
function answerTo(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once("data", (chunk) => resolve(String(chunk)));
    socket.once("close", () => resolve(""));
  });
}

function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  // The server may cut it off, which is expected.
  socket.on("error", () => {});
  return new Promise((resolve) => socket.once("connect", () => resolve(socket)));
}

test("`npm start` passes SIGTERM on: exit code 0 and nothing left running", async () => {
  const dataDir = makeDataDir();
  const npm = new Attempt("npm", ["start"], { cwd: ROOT, env: environment({ DATA_DIR: dataDir }) });
  try {
    expect(await npm.prints(/ready at (http:\S+)/), npm.stderr).toBeDefined();
    const postmaster = postmasterOf(dataDir)!;
    expect(isAlive(postmaster)).toBe(true);
    expect(await npm.end("SIGTERM")).toBe(0);
    expect(isAlive(postmaster)).toBe(false);
  } finally {
    await npm.end("SIGKILL");
    await cleanUp(dataDir);
  }
});
