import type { Command } from "commander";
import { configFromEnvironment } from "../../config.ts";
import { holderOf } from "../../data-lock.ts";
import type { OpenApi } from "../../http/docs-page.ts";
import { METRICS } from "../../report/metric/catalogue.ts";
import { metricsMarkdown } from "../../report/metric/metrics-markdown.ts";
import { VIEWS } from "../../report/view/views.ts";
import { viewsMarkdown } from "../../report/view/views-markdown.ts";
import { withServer, withThrowawayServer } from "../session.ts";
import { apiMarkdown } from "./api-markdown.ts";

export function docsCommand(program: Command): void {
  const docs = program.command("docs").description("Documentation generated from the program");

  docs
    .command("metrics")
    .description("docs/METRICS.md, from the catalogue")
    .option("--json", "print the catalogue as JSON instead")
    .action((options: { json?: boolean }) => {
      process.stdout.write(options.json ? `${JSON.stringify(METRICS)}\n` : metricsMarkdown());
    });

  docs
    .command("views")
    .description("The list of columns in docs/BI.md, from the views that `database views` makes")
    .option("--json", "print it as JSON instead")
    .action((options: { json?: boolean }) => {
      const views = VIEWS.map(({ name, says, columns }) => ({
        name,
        says,
        columns: columns.map((column) => ({ name: column.name, type: column.type, says: column.says })),
      }));
      process.stdout.write(options.json ? `${JSON.stringify(views)}\n` : viewsMarkdown());
    });

  docs
    .command("api")
    .description("docs/API.md, from the schemas that validate")
    .option("--url <url>", "address of the server; by default the one on DATA_DIR")
    .option("--json", "print the OpenAPI document instead")
    .action((options: { url?: string; json?: boolean }) => {
      const write = async (address: string) => {
        const openApi = (await (await fetch(`${address}/openapi.json`)).json()) as OpenApi;
        process.stdout.write(options.json ? `${JSON.stringify(openApi)}\n` : apiMarkdown(openApi));
      };
      // Every server of this version gives the same document. When none is running, DATA_DIR is left alone.
      const isServed = options.url !== undefined || holderOf(configFromEnvironment().dataDir) !== undefined;
      return isServed ? withServer(options.url, write) : withThrowawayServer(write);
    });
}
