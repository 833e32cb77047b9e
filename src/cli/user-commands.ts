import type { Command } from "commander";
import { sumOrders } from "../db/orders.ts";
import { loadUsers } from "../db/user-account.ts";
import { UsageError } from "../errors.ts";
import { userListRecord } from "../report/user-record.ts";
import { listOf, parseInteger, print } from "./output.ts";
import { findApp, withDatabase } from "./session.ts";

export function userCommands(program: Command): void {
  program
    .command("user")
    .description("Users")
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
