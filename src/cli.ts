import { runCommand } from "./cli/program.ts";

const exitCode = await runCommand(process.argv.slice(2));
// A command that has done its work may still say that something is wrong.
if (exitCode !== 0) process.exitCode = exitCode;
