import type { Command } from "commander";
import { loadNodes } from "../../db/node.ts";
import { print, tableOf } from "../output.ts";
import { withDatabase } from "../session.ts";

export function clusterCommands(program: Command): void {
  const cluster = program.command("cluster").description("The processes of this installation");
  cluster
    .command("status")
    .description("Show every process of the last hour, what it does and when it last gave a sign of life")
    .option("--json", "print JSON")
    .action((options: { json?: boolean }) =>
      withDatabase(async ({ pool }) => {
        const rows = (await loadNodes(pool)).map(
          ({ host, processId, address, roles, version, startedAtMs, silentMs, trouble }) => ({
            host,
            process: processId,
            address,
            roles: roles.join(","),
            version,
            started: new Date(startedAtMs).toISOString(),
            silent_s: Math.round(silentMs / 1_000),
            trouble,
          }),
        );
        print(rows, options, () => tableOf(rows));
      }),
    );
}
