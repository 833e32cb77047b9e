import { type ChildProcess, fork } from "node:child_process";
import { builtScript } from "../built-script.ts";
import { plainEnvironment } from "../market/simulated-server.ts";
import type { AssaultLength } from "./assault.ts";
import type { AttackReport } from "./attack.ts";
import type { Order, Report } from "./attacker-process.ts";
import type { Target } from "./target.ts";

/** The longest that an attack may wait for its last answers after its time is up. */
const LATE_MS_MAX = 120_000;

/** Attackers in a separate process, which ends with this one. */
export class Attackers {
  readonly #target: Target;
  #child: ChildProcess | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  /** Resolves when the last strike has its answer. */
  async strike(names: readonly string[], length: AssaultLength): Promise<Report> {
    this.#child ??= fork(builtScript("sim/attack/attacker-process.js"), [], {
      env: plainEnvironment(),
      execArgv: [],
      // JSON knows no infinite number of strikes.
      serialization: "advanced",
    });
    const child = this.#child;
    const report = new Promise<Report>((resolve) => {
      const done = (reports: Report) => {
        clearTimeout(timer);
        child.removeAllListeners("message");
        child.removeAllListeners("exit");
        resolve(reports);
      };
      const timer = setTimeout(() => {
        this.close();
        done(names.map((name) => brokenReport(name, "its last answers did not come within two minutes")));
      }, length.ms + LATE_MS_MAX);
      child.once("message", (message) => done(message as AttackReport[]));
      child.once("exit", (code) => {
        this.#child = undefined;
        done(names.map((name) => brokenReport(name, `the attacker ended with ${code}`)));
      });
    });
    child.send({ names, target: this.#target, length } satisfies Order);
    return report;
  }

  close(): void {
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }
}

function brokenReport(name: string, fault: string): AttackReport {
  return { name, calls: 0, bytesSent: 0, answers: {}, faults: [`The attack broke: ${fault}.`] };
}
