import { execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isAlive, postmasterOf } from "../../sim/chaos/postmaster.ts";
import { binariesFor, clusterFolder, runnerOf } from "../../src/db/engine/embedded-runtime.ts";
import { eventually, TEST_MS_MAX } from "../support/patience.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, Touchpoint, TouchpointProcess } from "../support/touchpoint.ts";
import { Attempt, attemptStart, environment, makeDataDir, ROOT } from "./launch.ts";

test("a DATA_DIR under a folder that is closed to others works: start, collect, restart, stop", async () => {
  const parent = mkdtempSync(join(tmpdir(), "touchpoint-closed-"));
  chmodSync(parent, 0o700);
  const dataDir = join(parent, "deep", "data");
  let server = await TouchpointProcess.start({ dataDir });
  try {
    expect(statSync(parent).mode & 0o777, "the folder stays closed").toBe(0o700);
    const app = await server.createApp();
    await expectCollecting(server, app);
    expect(postmasterOf(dataDir)).toBeGreaterThan(0);
    await server.kill();
    server = await TouchpointProcess.start({ dataDir });
    expect(await server.lookUp(app, "c")).toMatchObject([{ client_id: "c" }]);
    expect(await server.stop()).toBe(0);
    expect(postmasterOf(dataDir)).toBeUndefined();
  } finally {
    await server.kill();
    await cleanUp(dataDir);
    rmSync(parent, { recursive: true, force: true });
  }
});

test("the version of the package is that of its PostgreSQL", () => {
  const { postgres, major } = binariesFor(runnerOf());
  expect(execFileSync(postgres, ["--version"], { encoding: "utf8" })).toMatch(
    new RegExp(`\\(PostgreSQL\\) ${major}\\.`),
  );
});

test("an ordinary user needs only a folder of its own", async () => {
  const { uid, gid } = ordinaryUser();
  const home = mkdtempSync(join(tmpdir(), "touchpoint-home-"));
  chownSync(home, uid, gid);
  const dataDir = join(home, "data");
  const main = join(cloneFor(uid, gid, home), "dist/bundle/main.js");
  const env = environment({ DATA_DIR: dataDir, HOME: home });
  const attempt = new Attempt(process.execPath, [main], { env, uid, gid, cwd: home });
  try {
    const ready = await attempt.prints(/ready at (http:\/\/\S+)/);
    expect(ready, attempt.stderr).toBeDefined();
    const server = new Touchpoint({ url: ready![1]!, dataDir });
    const app = await server.createApp();
    await expectCollecting(server, app);
    for (const name of ["journal", "postgres", join("postgres", "cluster"), "secret.key", "lock.json"]) {
      const { uid: owner, mode } = statSync(join(dataDir, name));
      expect({ name, owner, others: mode & 0o077 }).toEqual({ name, owner: uid, others: 0 });
    }
    expect(await attempt.end("SIGTERM")).toBe(0);
    expect(postmasterOf(dataDir)).toBeUndefined();
  } finally {
    await attempt.end("SIGKILL");
    await cleanUp(dataDir);
    rmSync(home, { recursive: true, force: true });
  }
});

test("the cluster of another user is refused before anything is changed, and its owner is named", () => {
  const dataDir = makeDataDir();
  const folder = join(dataDir, "postgres");
  mkdirSync(join(folder, "cluster"), { recursive: true });
  const { uid, gid, username } = userInfo();
  // As root finds the cluster of a service's user: neither its own, nor of the user that would run PostgreSQL.
  const runner = { uid: uid + 1, gid };
  const before = statSync(folder);
  expect(() => clusterFolder(dataDir, runner, uid + 2)).toThrow(
    `The database in ${folder}/cluster belongs to the user ${username}, who alone can run it: use \`sudo -u ${username}\`.`,
  );
  expect(statSync(folder)).toEqual(before);
  expect(clusterFolder(dataDir, undefined, uid), "its owner's").toBe(folder);
  rmSync(dataDir, { recursive: true });
});

test("a database left by a killed server is taken over, even if ended processes are never reaped", async () => {
  const dataDir = prepareDataDir();
  const server = await TouchpointProcess.start({ dataDir });
  let parent: number | undefined;
  let next: Attempt | undefined;
  try {
    const app = await server.createApp();
    await expectCollecting(server, app);
    const settings = readFileSync(join(dataDir, "postgres", "cluster", "postmaster.opts"), "utf8");
    const args = [...settings.matchAll(/"([^"]*)"/g)].map(([, arg]) => arg!);
    expect(await server.stop()).toBe(0);
    // The same database again, as the child of a process that never reaps it, like the first process of many containers.
    const runner = runnerOf();
    const { postgres } = binariesFor(runner);
    const careless = spawn(
      "sh",
      ["-c", `"$0" "$@" >/dev/null 2>&1 & exec sleep ${TEST_MS_MAX / 1000}`, postgres, ...args],
      {
        ...runner,
        cwd: join(dataDir, "postgres"),
        env: { PATH: process.env.PATH },
        stdio: "ignore",
      },
    );
    parent = careless.pid!;
    const leftover = await readyPostmasterOf(dataDir);
    next = attemptStart({ DATA_DIR: dataDir });
    const ready = await next.prints(/ready at (http:\/\/\S+)/);
    expect(ready, "the server is ready").toBeDefined();
    expect(postmasterOf(dataDir)).not.toBe(leftover);
    await expectCollecting(new Touchpoint({ url: ready![1]!, dataDir }), app);
    expect(await next.end("SIGTERM")).toBe(0);
  } finally {
    await server.kill();
    await next?.end("SIGKILL");
    if (parent !== undefined && isAlive(parent)) process.kill(parent, "SIGKILL");
    await cleanUp(dataDir);
  }
});

/** The database running in the folder, once it accepts connections, as its file then says. */
function readyPostmasterOf(dataDir: string): Promise<number> {
  const file = join(dataDir, "postgres", "cluster", "postmaster.pid");
  return eventually(() => {
    expect(readFileSync(file, "utf8")).toMatch(/^ready\s*$/m);
    return postmasterOf(dataDir)!;
  });
}

/** The user who runs the tests, or another one if that is root. */
function ordinaryUser(): { uid: number; gid: number } {
  if (process.getuid!() !== 0) return { uid: process.getuid!(), gid: process.getgid!() };
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"]));
  return { uid: id("-u"), gid: id("-g") };
}

/** The folder of the program, or a copy of it if that user cannot read it. */
function cloneFor(uid: number, gid: number, home: string): string {
  try {
    execFileSync(process.execPath, ["-e", "fs.readFileSync(process.argv[1])", join(ROOT, "dist/bundle/main.js")], {
      uid,
      gid,
      cwd: home,
      stdio: "ignore",
    });
    return ROOT;
  } catch {
    for (const name of ["dist", "migrations", "node_modules", "package.json"]) {
      cpSync(join(ROOT, name), join(home, "clone", name), { recursive: true, verbatimSymlinks: true });
    }
    return join(home, "clone");
  }
}

async function expectCollecting(server: Touchpoint, app: Awaited<ReturnType<Touchpoint["createApp"]>>): Promise<void> {
  const event = { type: "track", event: "e", time: Date.now(), properties: {} };
  expect((await server.register(app, "c")).code).toBe(0);
  expect((await server.collect(app, "c", [event])).code).toBe(0);
  await server.settle();
}
