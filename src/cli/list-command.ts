import type { Command } from "commander";
import { parseInteger, print, tableOf } from "./output.ts";
import { type DatabaseSession, findApp, withDatabase } from "./session.ts";

type Listing = {
  description: string;
  load: (session: DatabaseSession, appId: number) => Promise<Parameters<typeof tableOf>[0]>;
};

/** Adds `list --app <app>`, which prints some of an app's settings as a table. */
export function addListCommand(parent: Command, { description, load }: Listing): void {
  parent
    .command("list")
    .description(description)
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: { app: number; json?: boolean }) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const rows = await load(session, appId);
        print(rows, options, () => tableOf(rows));
      }),
    );
}
