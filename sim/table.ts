/** A Markdown table, aligned so that it also reads well on a terminal. */
export function tableOf(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const texts = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, index) => Math.max(...texts.map((row) => row[index]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, index) => cell.padEnd(widths[index]!)).join(" | ")} |`;
  const [first, ...rest] = texts.map(line);
  return [first, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rest].join("\n");
}
