import type { Command } from "commander";
import { configFromEnvironment } from "../config.ts";
import { adminToken } from "../http/admin.ts";
import { openVault } from "../vault.ts";
import { print } from "./output.ts";

export function adminCommands(program: Command): void {
  program
    .command("admin")
    .description("The admin interface")
    .command("token")
    .description("Print the token that /admin/api/v1 asks for: Authorization: Bearer <token>")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) => {
      const token = adminToken(openVault(configFromEnvironment()));
      print({ admin_token: token }, options, () => token);
    });
}
