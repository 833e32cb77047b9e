import { type ChildProcess, fork } from "node:child_process";
import { builtScript } from "../built-script.ts";
import type { Order, Report } from "./server-process.ts";

/** A server in its own process, whose clock the market sets. */
export class SimulatedServer {
  readonly url: string;
  readonly dataDir: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, server: { url: string; dataDir: string }) {
    this.#child = child;
    this.url = server.url;
    this.dataDir = server.dataDir;
  }

  static async start(options: {
    dataDir: string;
    env: Record<string, string>;
    atMs: number;
  }): Promise<SimulatedServer> {
    const { dataDir, atMs } = options;
    const child = fork(builtScript("sim/market/server-process.js"), [], {
      env: { ...plainEnvironment(), ...options.env, DATA_DIR: dataDir },
      execArgv: [],
    });
    const ready = nextReport(child);
    child.send({ kind: "clock", atMs } satisfies Order);
    const report = await ready;
    if (report.kind !== "ready") throw new Error("The server answered before it was ready.");
    return new SimulatedServer(child, { url: report.url, dataDir });
  }

  async setClock(atMs: number): Promise<void> {
    await this.#ask({ kind: "clock", atMs });
  }

  /** Sends all postbacks that are due, while the clock stands still. Returns when the next one is due. */
  async sendPostbacks(): Promise<number | null> {
    const report = await this.#ask({ kind: "postbacks" });
    return report.kind === "sent" ? report.dueAtMs : null;
  }

  /** Refreshes everything that the reports are read from. */
  async refresh(): Promise<void> {
    await this.#ask({ kind: "reports" });
  }

  async stop(): Promise<void> {
    const exited = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.send({ kind: "stop" } satisfies Order);
    await exited;
  }

  #ask(order: Order): Promise<Report> {
    const done = nextReport(this.#child);
    this.#child.send(order);
    return done;
  }
}

function nextReport(child: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`The server ended with ${code}.`));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      resolve(message as Report);
    });
  });
}

/** The environment without the server's settings, which must not leak into the market's server. */
export function plainEnvironment(): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME };
}
