import { type ChildProcess, spawn } from "node:child_process";
import { builtScript } from "../built-script.ts";
import { plainEnvironment } from "../market/simulated-server.ts";
import type { Held } from "./loop-monitor.ts";
import type { Order, Report, ThreadName } from "./server-process.ts";
import { Stuck, WAIT_MS_MAX } from "./until.ts";

/** The script with which `npm start` starts the server. */
const START_SCRIPT = builtScript("../bin/start.sh");
const LINES_KEPT = 400;
const STOP_MS_MAX = WAIT_MS_MAX;

export type ServerStart = {
  env: Record<string, string>;
  /** How far its clock is ahead of the true time. */
  aheadMs?: number;
  /** A shell command to run before the server, such as a limit. */
  before?: string;
};

/** A server in its own process, to be treated badly. */
export class ServerChild {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #exited: Promise<void>;
  #url = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = new Promise((resolve) => child.once("exit", () => resolve()));
    for (const stream of [child.stdout!, child.stderr!]) {
      let rest = "";
      stream.on("data", (chunk) => {
        const lines = (rest + String(chunk)).split("\n");
        rest = lines.pop()!;
        this.#lines.push(...lines);
        if (this.#lines.length > LINES_KEPT) this.#lines.splice(0, this.#lines.length - LINES_KEPT);
      });
    }
  }

  /** Starts the process without waiting for it to be ready. */
  static launch({ env, aheadMs = 0, before = "true" }: ServerStart): ServerChild {
    const args = ["-c", `${before} && exec sh "$0" "$@"`, START_SCRIPT];
    return new ServerChild(
      spawn("sh", [...args, builtScript("sim/chaos/server-process.js"), String(aheadMs)], {
        env: { ...plainEnvironment(), ...env },
        stdio: ["ignore", "pipe", "pipe", "ipc"],
      }),
    );
  }

  static async start(how: ServerStart): Promise<ServerChild> {
    const server = ServerChild.launch(how);
    try {
      await server.ready();
      return server;
    } catch (error) {
      await server.kill();
      throw error;
    }
  }

  async ready(): Promise<void> {
    const report = await this.#nextReport();
    if (report.kind !== "ready") throw new Error("The server answered before it was ready.");
    this.#url = report.url;
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The last lines of its output. */
  get output(): string {
    return this.#lines.join("\n");
  }

  /** Sends SIGKILL. The embedded database stays behind, as after a crash. */
  async kill(): Promise<void> {
    if (this.isRunning) this.#child.kill("SIGKILL");
    await this.#exited;
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(name);
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.#child.send({ kind: "stop" } satisfies Order);
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS_MAX);
    await this.#exited;
    clearTimeout(timer);
  }

  async setClock(aheadMs: number): Promise<void> {
    await this.#ask({ kind: "clock", aheadMs });
  }

  async endThread(of: ThreadName): Promise<void> {
    await this.#ask({ kind: "end_thread", of });
  }

  /** The longest time for which its event loop was held since the last call. */
  async loopHeld(): Promise<Held> {
    const report = await this.#ask({ kind: "loop" });
    if (report.kind !== "loop") throw new Error(`The server answered ${report.kind}.`);
    return report.held;
  }

  #ask(order: Order): Promise<Report> {
    if (!this.isRunning) return Promise.reject(new Error(`The server has ended:\n${this.output}`));
    const report = this.#nextReport();
    // If the process is just ending, its exit is reported anyway.
    this.#child.send(order, () => {});
    return report;
  }

  #nextReport(): Promise<Report> {
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        this.#child.off("exit", ended);
        this.#child.off("message", told);
        end();
      };
      const told = (message: unknown) => settle(() => resolve(message as Report));
      const ended = (code: number | null) =>
        settle(() => reject(new Error(`The server ended with ${code}:\n${this.output}`)));
      const timer = setTimeout(
        () => settle(() => reject(new Stuck(`an answer of the server\n${this.output}`, WAIT_MS_MAX))),
        WAIT_MS_MAX,
      );
      this.#child.on("exit", ended);
      this.#child.on("message", told);
    });
  }
}
