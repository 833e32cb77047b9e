import { Command } from "commander";
import { accountCommands } from "./cli/account-commands.ts";
import { adminCommands } from "./cli/admin-commands.ts";
import { appCommands } from "./cli/app-commands.ts";
import { attributionCommands } from "./cli/attribution-commands.ts";
import { callbackCommands } from "./cli/callback-commands.ts";
import { campaignCommands } from "./cli/campaign-commands.ts";
import { costCommands } from "./cli/cost-commands.ts";
import { developerCommands } from "./cli/developer-commands.ts";
import { docsCommand } from "./cli/docs-command.ts";
import { explainCommand } from "./cli/explain-command.ts";
import { exportCommand } from "./cli/export-command.ts";
import { importCommand } from "./cli/import-command.ts";
import { journalCommands } from "./cli/journal-commands.ts";
import { ledgerCommand } from "./cli/ledger-command.ts";
import { metadataCommands } from "./cli/metadata-commands.ts";
import { visible } from "./cli/output.ts";
import { postbackCommands } from "./cli/postback-commands.ts";
import { reportCommands } from "./cli/report-commands.ts";
import { settleCommand } from "./cli/settle-command.ts";
import { userCommands } from "./cli/user-commands.ts";
import { ApiError, messageOf, UsageError } from "./errors.ts";

const program = new Command("touchpoint")
  .description("The command line of Touchpoint. Works with a running server on DATA_DIR, or without one.")
  .addHelpText(
    "after",
    "\nSettings come from the environment, as for the server: DATA_DIR, DATABASE_URL …\nExit codes: 0 done, 1 failed, 2 wrong arguments.",
  )
  .showHelpAfterError("(add --help for help)")
  .configureHelp({ showGlobalOptions: true })
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2));

appCommands(program);
userCommands(program);
campaignCommands(program);
costCommands(program);
accountCommands(program);
postbackCommands(program);
callbackCommands(program);
attributionCommands(program);
adminCommands(program);
developerCommands(program);
metadataCommands(program);
ledgerCommand(program);
importCommand(program);
exportCommand(program);
reportCommands(program);
explainCommand(program);
journalCommands(program);
settleCommand(program);
docsCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  // What is refused in the interface is refused here with the same sentence.
  const isSaid = error instanceof UsageError || error instanceof ApiError;
  const sentence = isSaid ? error.message : `It failed: ${messageOf(error)}`;
  process.stderr.write(`${visible(sentence)}\n`);
  process.exitCode = 1;
}
