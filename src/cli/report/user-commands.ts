import type { Command } from "commander";
import { sumOrders } from "../../db/orders.ts";
import { loadUsers } from "../../db/user-account.ts";
import { CODES, UsageError } from "../../errors.ts";
import { userListRecord } from "../../report/list/user-record.ts";
import { adminHeaders } from "../admin-headers.ts";
import { listOf, parseInteger, print } from "../output.ts";
import { findApp, withDatabase, withServer } from "../session.ts";

export function userCommands(program: Command): void {
  const user = program.command("user").description("Users");
  eraseCommand(user);
  user
    .command("show")
    .description("One user: registration, source, figures, device, properties, orders")
    .requiredOption("--app <app>", "app id", parseInteger)
    .argument("<client>", "client id")
    .option("--json", "print JSON")
    .action((clientId: string, options: { app: number; json?: boolean }) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const [user] = await loadUsers(session.pool, [{ appId: app.appId, clientId }]);
        if (!user) throw new UsageError(`App ${app.appId} has no user ${JSON.stringify(clientId)}.`);
        const { count, cents } = await sumOrders(session.pool, user);
        const shown = {
          ...userListRecord(user, app),
          properties: user.properties,
          orders: { count, amount_cents: cents },
        };
        print(shown, options, () => listOf(shown));
      }),
    );
}

/** Goes through the server: the erasure is written to the journal, after everything that it erases. */
function eraseCommand(user: Command): void {
  user
    .command("erase")
    .description("Erase everything stored about one user, for ever")
    .requiredOption("--app <app>", "app id", parseInteger)
    .argument("<client>", "client id")
    .option("--url <url>", "address of the server; by default the one on DATA_DIR")
    .option("--json", "print JSON")
    .action((clientId: string, options: { app: number; url?: string; json?: boolean }) =>
      withServer(options.url, async (address) => {
        const response = await fetch(`${address}/admin/api/v1/users/erase`, {
          method: "POST",
          headers: await withDatabase(adminHeaders),
          body: JSON.stringify({ app_id: options.app, client_id: clientId }),
        });
        const { code, msg, data } = (await response.json()) as { code: number; msg: string; data: { state: string } };
        if (code !== CODES.ok.code) throw new UsageError(`${msg} (code ${code})`);
        print(data, options, () =>
          data.state === "erased"
            ? "Erased. The journal still holds the user's entries until its segments are deleted (JOURNAL_KEEP_DAYS)."
            : "Accepted: the user will be erased when the journal has been applied up to this point.",
        );
      }),
    );
}
