import { Command } from "commander";
import { visible } from "./cli/output.ts";
import { ApiError, messageOf, UsageError } from "./errors.ts";

/** Adds its commands to the program. */
type Commands = (program: Command) => void;

/**
 * Which file has which commands. Only the one that is asked for is loaded, in half the time that all of them take;
 * whoever asks for help, or for a command that there is not, gets all.
 */
const FILES: readonly { names: readonly string[]; load: () => Promise<Commands> }[] = [
  { names: ["app"], load: async () => (await import("./cli/app-commands.ts")).appCommands },
  { names: ["user"], load: async () => (await import("./cli/user-commands.ts")).userCommands },
  { names: ["campaign"], load: async () => (await import("./cli/campaign-commands.ts")).campaignCommands },
  {
    names: ["cost", "advertiser", "ad-object"],
    load: async () => (await import("./cli/cost-commands.ts")).costCommands,
  },
  { names: ["account"], load: async () => (await import("./cli/account-commands.ts")).accountCommands },
  { names: ["postback"], load: async () => (await import("./cli/postback-commands.ts")).postbackCommands },
  { names: ["callback"], load: async () => (await import("./cli/callback-commands.ts")).callbackCommands },
  {
    names: ["rules", "why", "what-if", "fraud"],
    load: async () => (await import("./cli/attribution-commands.ts")).attributionCommands,
  },
  { names: ["admin"], load: async () => (await import("./cli/admin-commands.ts")).adminCommands },
  { names: ["developer"], load: async () => (await import("./cli/developer-commands.ts")).developerCommands },
  { names: ["metadata"], load: async () => (await import("./cli/metadata-commands.ts")).metadataCommands },
  { names: ["ledger"], load: async () => (await import("./cli/ledger-command.ts")).ledgerCommand },
  { names: ["import"], load: async () => (await import("./cli/import-command.ts")).importCommand },
  { names: ["export"], load: async () => (await import("./cli/export-command.ts")).exportCommand },
  { names: ["report"], load: async () => (await import("./cli/report-commands.ts")).reportCommands },
  { names: ["explain"], load: async () => (await import("./cli/explain-command.ts")).explainCommand },
  { names: ["journal"], load: async () => (await import("./cli/journal-commands.ts")).journalCommands },
  { names: ["settle"], load: async () => (await import("./cli/settle-command.ts")).settleCommand },
  { names: ["docs"], load: async () => (await import("./cli/docs-command.ts")).docsCommand },
];

const program = new Command("touchpoint")
  .description("The command line of Touchpoint. Works with a running server on DATA_DIR, or without one.")
  .addHelpText(
    "after",
    "\nSettings come from the environment, as for the server: DATA_DIR, DATABASE_URL …\nExit codes: 0 done, 1 failed, 2 wrong arguments.",
  )
  .showHelpAfterError("(add --help for help)")
  .configureHelp({ showGlobalOptions: true })
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

const asked = FILES.filter(({ names }) => names.includes(process.argv[2] ?? ""));
for (const { load } of asked.length > 0 ? asked : FILES) (await load())(program);

try {
  await program.parseAsync();
} catch (error) {
  // What is refused in the interface is refused here with the same sentence.
  const isSaid = error instanceof UsageError || error instanceof ApiError;
  const sentence = isSaid ? error.message : `It failed: ${messageOf(error)}`;
  process.stderr.write(`${visible(sentence)}\n`);
  process.exitCode = 1;
}
