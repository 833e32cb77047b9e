import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { PACKAGE } from "../../package-folder.ts";

const START = fileURLToPath(new URL("bin/start.sh", PACKAGE));
const MAIN = fileURLToPath(new URL("dist/bundle/main.js", PACKAGE));

export function serveCommand(program: Command): void {
  program
    .command("serve")
    .description(
      "Run the server until it is stopped; HOST, PORT, DATA_DIR and the other settings as in docs/OPERATIONS.md",
    )
    .action(runServer);
}

/** Runs it in a process of its own, because settings of the C library only take effect when a process starts. */
async function runServer(): Promise<void> {
  const [command, args] = process.platform === "win32" ? [process.execPath, [MAIN]] : ["sh", [START, MAIN]];
  const server = spawn(command, args, { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => server.kill(signal));
  const [code] = (await once(server, "exit")) as [number | null];
  process.exitCode = code ?? 1;
}
