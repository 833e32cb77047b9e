import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PATIENCE_MS } from "../support/patience.ts";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What is delivered. */
export const BUNDLE = join(ROOT, "dist/bundle");
export const CLI = join(BUNDLE, "cli.js");
/** Arguments of the shell that start the server as `npm start` does. */
export const START = [join(ROOT, "bin/start.sh"), join(BUNDLE, "main.js")];

/** An empty folder that others may pass through, so that the cluster lies inside it even if the tests run as root. */
export function makeDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), "touchpoint-"));
  chmodSync(dataDir, 0o711);
  return dataDir;
}

/** A process whose start may fail, or that is ended before it is ready. */
export class Attempt {
  readonly child: ChildProcess;
  stdout = "";
  stderr = "";
  readonly #exited: Promise<number | null>;

  constructor(command: string, args: readonly string[], options: SpawnOptions & { env: Record<string, string> }) {
    this.child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    this.child.stdout!.on("data", (chunk) => (this.stdout += chunk));
    this.child.stderr!.on("data", (chunk) => (this.stderr += chunk));
    this.#exited = new Promise((resolve) => this.child.once("close", resolve));
  }

  /** The exit code, or null after a signal. */
  ended(): Promise<number | null> {
    return this.#exited;
  }

  /** The matching output, or undefined if the process ends without it. */
  async prints(pattern: RegExp): Promise<RegExpExecArray | undefined> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = pattern.exec(this.stdout);
      if (found) return found;
      if (Date.now() > until || this.child.exitCode !== null || this.child.signalCode !== null) return undefined;
      await sleep(10);
    }
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    return this.#exited;
  }
}

/** Only what a server or a command needs, without the settings of whoever runs the tests. */
export function environment(settings: Record<string, string>): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  // No server listens there: a test that needs an answer names its own server.
  const APPLE_ATTRIBUTION_URL = "http://127.0.0.1:9/";
  // The stand-ins for the ad platforms are on this machine.
  const counterparts = { APPLE_ATTRIBUTION_URL, PLATFORM_PRIVATE_NETWORKS: "allow" };
  return { PATH, HOME, PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "warn", ...counterparts, ...settings };
}

export function attemptStart(settings: Record<string, string>, options: SpawnOptions = {}): Attempt {
  return new Attempt("sh", START, { ...options, env: environment(settings) });
}
