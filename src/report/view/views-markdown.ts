import { VIEWS } from "./views.ts";

/** The views and their columns, as docs/BI.md lists them. */
export function viewsMarkdown(): string {
  return VIEWS.map(({ name, says, columns }) =>
    [
      `### ${name}`,
      "",
      `${says}.`,
      "",
      "| column | type | what |",
      "|---|---|---|",
      ...columns.map((column) => `| ${column.name} | ${column.type} | ${column.says} |`),
      "",
    ].join("\n"),
  ).join("\n");
}
