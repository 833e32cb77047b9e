import { watchOutput } from "./cli/output-end.ts";
import { runCommand } from "./cli/program.ts";

/** The exit code of a process that runs out of work before its command is done; Node.js uses the same for scripts. */
const UNFINISHED = 13;

const onOutOfWork = () => {
  process.exitCode ??= UNFINISHED;
};
process.once("beforeExit", onOutOfWork);
watchOutput();
runCommand(process.argv.slice(2)).then((exitCode) => {
  process.off("beforeExit", onOutOfWork);
  // A command can succeed and still report a problem through its exit code.
  if (exitCode !== 0) process.exitCode = exitCode;
});
