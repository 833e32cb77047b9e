import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { promisify } from "node:util";
import pg from "pg";
import { embeddedConnection } from "../../src/db/engine/embedded-role.ts";
import { builtScript } from "../built-script.ts";
import { stopPostmaster } from "../chaos/postmaster.ts";
import { ServerChild } from "../chaos/server-child.ts";
import { type DataFolder, temporaryFolder } from "../market/data-folder.ts";
import { plainEnvironment } from "../market/simulated-server.ts";
import { AdminDoor } from "./admin-door.ts";
import type { Target } from "./target.ts";

type Made = { app_id: number; access_token: string };

const RATE = { rate_calls: 1_000, rate_window_s: 1 };

/** The app under ordinary load: only its own clients know its tokens. */
export type Victim = { appId: number; accessToken: string; developerKey: string };

/**
 * A server with default settings behind a proxy that names the callers' addresses, with three apps: one under ordinary load,
 * one of the attacker, and one whose clicks are signed.
 */
export class Stage {
  readonly server: ServerChild;
  readonly pool: pg.Pool;
  readonly admin: AdminDoor;
  readonly victim: Victim;
  readonly target: Target;
  readonly #folder: DataFolder;

  private constructor(parts: {
    folder: DataFolder;
    server: ServerChild;
    pool: pg.Pool;
    admin: AdminDoor;
    victim: Victim;
    target: Target;
  }) {
    this.#folder = parts.folder;
    this.server = parts.server;
    this.pool = parts.pool;
    this.admin = parts.admin;
    this.victim = parts.victim;
    this.target = parts.target;
  }

  static async open(): Promise<Stage> {
    const folder = temporaryFolder();
    mkdirSync(folder.dataDir, { mode: 0o711 });
    const server = await ServerChild.start({
      env: {
        PORT: "0",
        HOST: "127.0.0.1",
        DATA_DIR: folder.dataDir,
        LOG_LEVEL: "error",
        DISK_FREE_BYTES_MIN: "0",
        TRUSTED_PROXIES: "127.0.0.1",
        // No one listens there, so that attackers' tokens are not passed on to Apple.
        APPLE_ATTRIBUTION_URL: "http://127.0.0.1:9/",
      },
    });
    const pool = openPool(folder.dataDir);
    try {
      const admin = new AdminDoor(server.url, (await cli(folder, ["admin", "token"])).trim());
      return new Stage({ folder, server, pool, admin, ...(await settle(folder, server.url, admin)) });
    } catch (error) {
      await clear({ folder, server, pool });
      throw error;
    }
  }

  get dataDir(): string {
    return this.#folder.dataDir;
  }

  remove(): Promise<void> {
    return clear({ folder: this.#folder, server: this.server, pool: this.pool });
  }
}

async function clear({ folder, server, pool }: { folder: DataFolder; server: ServerChild; pool: pg.Pool }) {
  await pool.end();
  await server.stop();
  await stopPostmaster(folder.dataDir);
  folder.remove();
}

async function settle(folder: DataFolder, url: string, admin: AdminDoor): Promise<{ victim: Victim; target: Target }> {
  const app = (name: string) => admin.post<Made>("apps/create", { name });
  const [a, b, c] = [await app("Ordinary"), await app("Attacker's"), await app("Signed")];
  const developer = async (apps: number[]) => {
    const { id } = await admin.post<{ id: number }>("developers/create", { name: "Reports", apps, ...RATE });
    const { app_key } = await admin.post<{ app_key: string }>("developers/decide", { id, state: "approved" });
    return { id, developerKey: app_key };
  };
  const [ofA, ofB] = [await developer([a.app_id]), await developer([b.app_id])];
  const spare = [await developer([b.app_id]), await developer([b.app_id])].map(({ id }) => id);
  const [adminPassword, analystPassword, akey] = [secret(), secret(), secret()];
  const setup = JSON.parse(await cli(folder, ["admin", "link", "--json"])) as { setup_token: string };
  await admin.setUp({ token: setup.setup_token, name: "boss", password: adminPassword });
  const invited = await admin.post<{ setup_token: string }>("console-users/create", {
    name: "ann",
    grants: [{ app_id: null, role: "analyst" }],
  });
  await admin.setUp({ token: invited.setup_token, password: analystPassword });
  await cli(folder, ["rules", "set", "--app", String(c.app_id), "--platform", "baidu", "--akey", akey]);
  return {
    victim: { appId: a.app_id, accessToken: a.access_token, developerKey: ofA.developerKey },
    target: {
      url,
      victim: { appId: a.app_id },
      signing: { appId: c.app_id, akey },
      developers: spare,
      own: { appId: b.app_id, accessToken: b.access_token, developerKey: ofB.developerKey },
      inside: {
        adminToken: admin.token,
        adminName: "boss",
        adminPassword,
        analystName: "ann",
        analystPassword,
      },
    },
  };
}

function secret(): string {
  return randomBytes(16).toString("hex");
}

function openPool(dataDir: string): pg.Pool {
  const connection = embeddedConnection(dataDir);
  if (connection?.kind !== "local") throw new Error(`${dataDir} has no database of its own.`);
  const { kind: _, ...local } = connection;
  const pool = new pg.Pool({ ...local, max: 4, application_name: "attack" });
  pool.on("error", () => {});
  return pool;
}

async function cli({ dataDir }: DataFolder, args: readonly string[]): Promise<string> {
  const env = { ...plainEnvironment(), DATA_DIR: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [builtScript("bundle/cli.js"), ...args], { env });
  return stdout;
}
