import { Command, CommanderError } from "commander";
import { ApiError, messageOf, UsageError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { COMMAND_GROUPS } from "./command-groups.ts";
import { visible } from "./output.ts";
import { outputFailure } from "./output-end.ts";

const VERSION_FLAGS = ["-V", "--version"];

/** Runs one command, prints its output and returns the exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const program = await programFor(args[0] === "help" ? args[1] : args[0]);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Wrong arguments or a request for help: commander has already printed the text.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    // Told already, unless the reader has left, which is no failure.
    if (error === outputFailure()) return 0;
    // Refusals are printed with the same sentence as in the interface.
    const isSaid = error instanceof UsageError || error instanceof ApiError;
    const sentence = isSaid ? error.message : `The command failed: ${messageOf(error)}`;
    process.stderr.write(`${visible(sentence)}\n`);
    return 1;
  }
}

/** The program with one command of its own; the others stand in it only to be listed and to correct a slip. */
async function programFor(name: string | undefined): Promise<Command> {
  const program = emptyProgram();
  for (const group of COMMAND_GROUPS) {
    const terms = Object.keys(group.commands);
    if (terms.some((term) => nameIn(term) === name)) (await group.load())(program, wholeProgram);
    else for (const term of terms) program.addCommand(listedCommand(term, group.commands[term]!));
  }
  return program;
}

/** The program with all commands. */
export async function wholeProgram(): Promise<Command> {
  const program = emptyProgram();
  for (const { load } of COMMAND_GROUPS) (await load())(program, wholeProgram);
  return program;
}

function nameIn(term: string): string {
  return term.split(" ", 1)[0]!;
}

/** A command that help lists as the real one, of which only the term and the description are known. */
function listedCommand(term: string, description: string): Command {
  const command = new Command(nameIn(term)).description(description);
  for (const part of term.split(" ").slice(1)) {
    if (part === "[options]") command.option("--json");
    else command.argument(part);
  }
  return command;
}

function emptyProgram(): Command {
  return new Command("touchpoint")
    .version(VERSION, VERSION_FLAGS.join(", "), "print the version")
    .description("The command line of Touchpoint. Works with a running server on DATA_DIR, or without one.")
    .addHelpText(
      "after",
      "\nSettings come from the environment, as for the server: DATA_DIR, DATABASE_URL …\nExit codes: 0 done, 1 failed, 2 wrong arguments.",
    )
    .showHelpAfterError("(add --help for help)")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
}
