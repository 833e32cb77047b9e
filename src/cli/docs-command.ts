import type { Command } from "commander";
import { apiMarkdown } from "../http/api-markdown.ts";
import type { OpenApi } from "../http/docs-page.ts";
import { METRICS } from "../report/catalogue.ts";
import { metricsMarkdown } from "../report/metrics-markdown.ts";
import { withServer } from "./session.ts";

export function docsCommand(program: Command): void {
  const docs = program.command("docs").description("Documentation made from the running program");

  docs
    .command("metrics")
    .description("docs/METRICS.md, from the catalogue")
    .option("--json", "print the catalogue as JSON instead")
    .action((options: { json?: boolean }) => {
      process.stdout.write(options.json ? `${JSON.stringify(METRICS)}\n` : metricsMarkdown());
    });

  docs
    .command("api")
    .description("docs/API.md, from the schemas that validate")
    .option("--url <url>", "address of the server; by default the one on DATA_DIR")
    .option("--json", "print the OpenAPI document instead")
    .action((options: { url?: string; json?: boolean }) =>
      withServer(options.url, async (address) => {
        const openApi = (await (await fetch(`${address}/openapi.json`)).json()) as OpenApi;
        process.stdout.write(options.json ? `${JSON.stringify(openApi)}\n` : apiMarkdown(openApi));
      }),
    );
}
