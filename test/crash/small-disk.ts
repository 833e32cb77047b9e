import { join } from "node:path";
import { canMount, SmallDisk } from "../../sim/chaos/small-disk.ts";
import { Attempt, environment, START } from "../process/launch.ts";
import { Touchpoint } from "../support/touchpoint.ts";

/** A server that the test ends by hand. */
export class OwnServer extends Touchpoint {
  readonly attempt: Attempt;

  constructor(server: { url: string; dataDir: string }, attempt: Attempt) {
    super(server);
    this.attempt = attempt;
  }
}

type Settings = Record<string, string> & { DATA_DIR: string };

export type DiskLimit = {
  name: string;
  /** The number of times the disk is filled and freed. */
  rounds: number;
  prepare(dataDir: string): void;
  start(settings: Settings, state: "with space" | "full"): Promise<OwnServer>;
  fill(server: OwnServer, settings: Settings): Promise<OwnServer>;
  free(server: OwnServer, settings: Settings): Promise<OwnServer>;
  remove(dataDir: string): void;
};

/** A limit on the size of files works for everyone; a small file system only where it can be mounted. */
export function diskLimits(): DiskLimit[] {
  return canMount() ? [byFileLimit, byMount] : [byFileLimit];
}

/** A limit of 512 bytes: a longer write stops there and the rest fails, as on a full disk. */
const byFileLimit: DiskLimit = {
  name: "a file cannot grow",
  // Each round takes two starts of the server.
  rounds: 1,
  prepare() {},
  start: (settings, state) =>
    launch(state === "full" ? ["-c", `ulimit -f 1 && exec sh "$0" "$1"`] : ["-c", `exec sh "$0" "$1"`], settings),
  async fill(server, settings) {
    await server.attempt.end("SIGKILL");
    return byFileLimit.start(settings, "full");
  },
  async free(server, settings) {
    await server.attempt.end("SIGKILL");
    return byFileLimit.start(settings, "with space");
  },
  remove() {},
};

const DISK_MEBIBYTES = 16;
const disks = new Map<string, SmallDisk>();

/** Only the journal is on a small file system. */
const byMount: DiskLimit = {
  name: "no space left on the device",
  rounds: 2,
  prepare(dataDir) {
    disks.set(dataDir, SmallDisk.mount(join(dataDir, "journal"), DISK_MEBIBYTES));
  },
  start: (settings) => launch(["-c", `exec sh "$0" "$1"`], settings),
  async fill(server) {
    disks.get(server.dataDir)!.fill();
    return server;
  },
  async free(server) {
    disks.get(server.dataDir)!.free();
    return server;
  },
  remove(dataDir) {
    disks.get(dataDir)!.unmount();
  },
};

async function launch(shellArgs: string[], settings: Settings): Promise<OwnServer> {
  const attempt = new Attempt("sh", [...shellArgs, ...START], { env: environment(settings) });
  const ready = await attempt.prints(/ready at (http:\/\/\S+)/);
  if (!ready) {
    await attempt.end("SIGKILL");
    throw new Error(`The server is not ready:\n${attempt.stdout}${attempt.stderr}`);
  }
  return new OwnServer({ url: ready[1]!, dataDir: settings.DATA_DIR }, attempt);
}
