/** A Markdown table, aligned so that it also reads well on a terminal. */
export function tableOf(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const texts = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, place) => Math.max(...texts.map((row) => row[place]!.length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, place) => cell.padEnd(widths[place]!)).join(" | ")} |`;
  const [first, ...rest] = texts.map(line);
  return [first, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rest].join("\n");
}
