import { InvalidArgumentError } from "commander";
import { isDay } from "../domain/calendar.ts";
import { LIMITS } from "../limits.ts";

/** Prints a command's result: a table for people, JSON for programs. */
export function print(value: unknown, options: { json?: boolean | undefined }, table: () => string): void {
  process.stdout.write(`${visible(options.json ? JSON.stringify(value) : table())}\n`);
}

/** Characters that a terminal obeys instead of showing: control characters, and changes of the writing direction. */
const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Escapes control characters: names and ids come from outside, and must not control the reader's terminal. The escapes
 * are those of JSON, so that JSON output keeps its value.
 */
export function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A table with columns as wide as their widest cell, and numbers aligned to the right. */
export function tableOf(rows: readonly Record<string, unknown>[]): string {
  const [first] = rows;
  if (!first) return "(none)";
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => cellOf(row[name])));
  const widths = names.map((name, index) => Math.max(name.length, ...cells.map((row) => row[index]!.length)));
  const isNumeric = names.map((name) => rows.every((row) => typeof row[name] === "number"));
  const line = (row: readonly string[]) =>
    row
      .map((cell, index) => (isNumeric[index] ? cell.padStart(widths[index]!) : cell.padEnd(widths[index]!)))
      .join("  ")
      .trimEnd();
  return [line(names), ...cells.map(line)].join("\n");
}

function cellOf(value: unknown): string {
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
  // A line break would look like another row.
  return visible(text).replaceAll("\n", "\\n");
}

/** Names and values, one pair per line. */
export function listOf(values: Record<string, unknown>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length));
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(width)}  ${cellOf(value)}`)
    .join("\n");
}

/** A bar on a terminal, a line for every tenth elsewhere. Written to stderr, so that the output can be piped. */
export class ProgressBar {
  readonly #label: string;
  #shown = -1;

  constructor(label: string) {
    this.#label = label;
  }

  show(done: number, total: number): void {
    const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
    const step = process.stderr.isTTY ? percent : Math.floor(percent / 10) * 10;
    if (step === this.#shown) return;
    this.#shown = step;
    if (!process.stderr.isTTY) {
      process.stderr.write(`${this.#label} ${step} %\n`);
      return;
    }
    const filled = Math.round(percent / 4);
    process.stderr.write(
      `\r${this.#label} [${"█".repeat(filled)}${"·".repeat(25 - filled)}] ${percent} %${percent === 100 ? "\n" : ""}`,
    );
  }
}

export function parseInteger(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** A display name, with the limits of the admin interface. */
export function parseName(text: string): string {
  const isFit = text.trim() !== "" && [...text].length <= LIMITS.nameLength;
  if (!isFit) throw new InvalidArgumentError(`It must have from 1 to ${LIMITS.nameLength} characters.`);
  return text;
}

export function parseDay(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError("It must be a day such as 2026-11-15.");
  return text;
}

export function parseList(text: string): string[] {
  return text.split(",").filter((part) => part !== "");
}

export function parseIntegers(text: string): number[] {
  return parseList(text).map(parseInteger);
}
