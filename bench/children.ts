import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { elapsedMs } from "../src/clock.ts";
import type { App } from "../src/db/app.ts";
import type { Generator } from "./generator.ts";
import type { Sizes } from "./options.ts";

/** What a step needs: the data left by the steps before it, the sizes, and folders for more. */
export type Setup = {
  dataDir: string;
  folder: string;
  env: Record<string, string>;
  app: App;
  sizes: Sizes;
  /** The multiples of the smallest amount of data, in order. */
  scales: readonly number[];
  generator: Generator;
};

/** A process under measurement. */
export type Child = {
  process: ChildProcess;
  port: number;
  readyMs: number;
  /** The number of requests that it has refused so far. */
  refused(): Promise<number>;
  stop(): Promise<void>;
};

/** The script with which `npm start` starts the server. */
const START_SCRIPT = fileURLToPath(new URL("../../bin/start.sh", import.meta.url));

const CHILDREN = new Set<ChildProcess>();

const READY = /ready at http:\/\/127\.0\.0\.1:(\d+)/;

/** Starts the server, with all roles unless `roles` is given. */
export async function startServer(env: Record<string, string>, roles?: string): Promise<Child> {
  const child = await startChild("../bundle/main.js", [], roles ? { ...env, ROLES: roles } : env, READY);
  return { ...child, refused: () => refusedBy(child.port) };
}

async function refusedBy(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = [...text.matchAll(/^touchpoint_requests_total\{.*code="(?!0")\d+"\} (\d+)/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Starts the least that a durable collector could be, see bare-server.ts. */
export function startBareServer(folder: string): Promise<Child> {
  return startChild("./bare-server.js", [join(folder, "bare.log")], {}, /port (\d+)/);
}

export async function startChild(
  script: string,
  args: string[],
  env: Record<string, string>,
  ready: RegExp,
): Promise<Child> {
  const startedMs = elapsedMs();
  const child = spawn("sh", [START_SCRIPT, fileURLToPath(new URL(script, import.meta.url)), ...args], {
    env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin:/usr/sbin:/sbin`, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  trackChild(child);
  let output = "";
  child.stdout!.on("data", (chunk) => (output += chunk));
  for (let match = ready.exec(output); ; match = ready.exec(output)) {
    if (match) {
      const port = Number(match[1]);
      // What is not our server ends when it gets a request that it would have to refuse.
      return {
        process: child,
        port,
        readyMs: elapsedMs() - startedMs,
        refused: async () => 0,
        stop: () => stop(child),
      };
    }
    if (child.exitCode !== null) throw new Error(`${script} ended:\n${output}`);
    await sleep(5);
  }
}

/** Remembers a child for as long as it runs. */
export function trackChild(child: ChildProcess): ChildProcess {
  CHILDREN.add(child);
  child.once("exit", () => CHILDREN.delete(child));
  return child;
}

/** Stops the children that still run when the work ended early. */
export async function endChildren(): Promise<void> {
  await Promise.all([...CHILDREN].map(stop));
}

/** Throws for a child that has already ended: it was not measured to the end. */
async function stop(child: ChildProcess): Promise<void> {
  const how = child.exitCode ?? child.signalCode;
  if (how !== null) throw new Error(`${child.spawnargs[2]} had ended before it was stopped: ${how}.`);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  await exited;
}

/** Watches resident memory until stopped; returns the highest and the last value in MB. */
export function watchMemory(child: ChildProcess): () => { maxMb: number; lastMb: number } {
  let maxMb = 0;
  let lastMb = 0;
  const look = () => {
    lastMb = residentMb(child.pid!);
    maxMb = Math.max(maxMb, lastMb);
  };
  const timer = setInterval(look, 100);
  return () => {
    clearInterval(timer);
    return { maxMb: Math.round(maxMb), lastMb: Math.round(lastMb) };
  };
}

export function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
