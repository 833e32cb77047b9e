import { Command, CommanderError } from "commander";
import { ApiError, messageOf, UsageError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { visible } from "./output.ts";

/** Adds its commands to the program. */
type Commands = (program: Command) => void;

/**
 * The file of each command. Only the requested one is loaded, which takes half the time of loading all. Help, and
 * unknown commands, load all of them.
 */
const FILES: readonly { names: readonly string[]; load: () => Promise<Commands> }[] = [
  { names: ["serve"], load: async () => (await import("./operation/serve-command.ts")).serveCommand },
  { names: ["app"], load: async () => (await import("./setting/app-commands.ts")).appCommands },
  { names: ["user"], load: async () => (await import("./report/user-commands.ts")).userCommands },
  { names: ["campaign"], load: async () => (await import("./setting/campaign-commands.ts")).campaignCommands },
  {
    names: ["cost", "advertiser", "ad-object"],
    load: async () => (await import("./operation/cost-commands.ts")).costCommands,
  },
  { names: ["account"], load: async () => (await import("./setting/account-commands.ts")).accountCommands },
  { names: ["connector"], load: async () => (await import("./setting/connector-commands.ts")).connectorCommands },
  { names: ["ad-revenue"], load: async () => (await import("./report/ad-revenue-command.ts")).adRevenueCommand },
  { names: ["ecpm"], load: async () => (await import("./setting/ecpm-commands.ts")).ecpmCommands },
  { names: ["rebate"], load: async () => (await import("./setting/rebate-commands.ts")).rebateCommands },
  { names: ["refund"], load: async () => (await import("./operation/refund-commands.ts")).refundCommands },
  { names: ["share"], load: async () => (await import("./setting/share-commands.ts")).shareCommands },
  { names: ["postback"], load: async () => (await import("./operation/postback-commands.ts")).postbackCommands },
  { names: ["callback"], load: async () => (await import("./setting/callback-commands.ts")).callbackCommands },
  {
    names: ["rules", "why", "what-if", "fraud"],
    load: async () => (await import("./setting/attribution-commands.ts")).attributionCommands,
  },
  { names: ["admin"], load: async () => (await import("./setting/admin-commands.ts")).adminCommands },
  { names: ["developer"], load: async () => (await import("./setting/developer-commands.ts")).developerCommands },
  { names: ["metadata"], load: async () => (await import("./setting/metadata-commands.ts")).metadataCommands },
  { names: ["ledger"], load: async () => (await import("./report/ledger-command.ts")).ledgerCommand },
  { names: ["import"], load: async () => (await import("./operation/import-command.ts")).importCommand },
  { names: ["export"], load: async () => (await import("./report/export-command.ts")).exportCommand },
  { names: ["report"], load: async () => (await import("./report/report-commands.ts")).reportCommands },
  { names: ["explain"], load: async () => (await import("./report/explain-command.ts")).explainCommand },
  { names: ["journal"], load: async () => (await import("./operation/journal-commands.ts")).journalCommands },
  { names: ["secret"], load: async () => (await import("./setting/secret-commands.ts")).secretCommands },
  { names: ["settle"], load: async () => (await import("./operation/settle-command.ts")).settleCommand },
  { names: ["docs"], load: async () => (await import("./report/docs-command.ts")).docsCommand },
];

const VERSION_FLAGS = ["-V", "--version"];

/** Runs one command, prints its output and returns the exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const program = emptyProgram();
  const asked = FILES.filter(({ names }) => names.includes(args[0] ?? ""));
  const wanted = VERSION_FLAGS.includes(args[0] ?? "") || asked.length > 0 ? asked : FILES;
  for (const { load } of wanted) (await load())(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Wrong arguments or a request for help: commander has already printed the text.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    // Refusals are printed with the same sentence as in the interface.
    const isSaid = error instanceof UsageError || error instanceof ApiError;
    const sentence = isSaid ? error.message : `The command failed: ${messageOf(error)}`;
    process.stderr.write(`${visible(sentence)}\n`);
    return 1;
  }
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
