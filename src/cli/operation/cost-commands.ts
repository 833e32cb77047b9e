import type { Command } from "commander";
import { takeAdObjects, takeAdvertisers, takeCosts } from "../../admin/operation/cost-files.ts";
import { AD_OBJECT_COLUMNS, ADVERTISER_COLUMNS, COST_COLUMNS } from "../../cost/file-import.ts";
import { deskOf } from "../desk.ts";
import { addImportCommand, takeFile } from "../given-file.ts";
import { withDatabase } from "../session.ts";
import { costPullCommands } from "./cost-pull-commands.ts";

type Json = { json?: boolean };

/** Costs of ads, from the platforms or from files, and names of accounts, plans, ads and creatives. */
export function costCommands(program: Command): void {
  const cost = program.command("cost").description("Costs of ads");
  costPullCommands(cost);
  addImportCommand(cost, `Import a CSV file. Columns, all optional except date: ${COST_COLUMNS.join(",")}`, takeCosts);

  program
    .command("advertiser")
    .description("Accounts at the ad platforms")
    .command("import")
    .description(`Import a CSV file. Columns: ${ADVERTISER_COLUMNS.join(",")}`)
    .argument("<file>", "the file; - for standard input")
    .option("--json", "print JSON")
    .action((path: string, options: Json) =>
      withDatabase((session) =>
        takeFile(path, options, (file) => takeAdvertisers(deskOf(session), { body: { csv: "" }, file })),
      ),
    );

  program
    .command("ad-object")
    .description("Names of plans, ads and creatives")
    .command("import")
    .description(`Import a CSV file. Columns: ${AD_OBJECT_COLUMNS.join(",")}; level is plan, ad or creative`)
    .argument("<file>", "the file; - for standard input")
    .option("--json", "print JSON")
    .action((path: string, options: Json) =>
      withDatabase((session) =>
        takeFile(path, options, (file) => takeAdObjects(deskOf(session), { body: { csv: "" }, file })),
      ),
    );
}
