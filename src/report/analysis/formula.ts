import { refused, shown } from "./refusal.ts";

/**
 * Formulas over series, such as `A / B * 100`. A small grammar of its own, so that nothing that somebody types is ever run:
 *
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/") factor }
 *   factor  = number | letter | "-" factor | "(" sum ")"
 */
export type Formula =
  | { kind: "number"; value: number }
  | { kind: "series"; index: number }
  | { kind: "minus"; of: Formula }
  | { kind: "operation"; operator: "+" | "-" | "*" | "/"; left: Formula; right: Formula };

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|([A-Za-z])(?![A-Za-z0-9])|([-+*/()×÷−]))/y;
const SIGNS: Readonly<Record<string, string>> = { "×": "*", "÷": "/", "−": "-" };
const NESTING = 20;

export function parseFormula(text: string, seriesCount: number): Formula {
  const tokens = tokensOf(text);
  let at = 0;
  const isNext = (...signs: string[]) => at < tokens.length && signs.includes(tokens[at]!);
  const sum = (depth: number): Formula => {
    let left = product(depth);
    while (isNext("+", "-")) left = { kind: "operation", operator: tokens[at++] as "+", left, right: product(depth) };
    return left;
  };
  const product = (depth: number): Formula => {
    let left = factor(depth);
    while (isNext("*", "/")) left = { kind: "operation", operator: tokens[at++] as "*", left, right: factor(depth) };
    return left;
  };
  const factor = (depth: number): Formula => {
    if (depth > NESTING) throw refused(`The formula ${shown(text)} is nested too deeply: use fewer parentheses.`);
    const token = tokens[at++];
    if (token === undefined) throw refused(`The formula ${shown(text)} ends too early: complete it.`);
    if (token === "-") return { kind: "minus", of: factor(depth + 1) };
    if (token === "(") {
      const inner = sum(depth + 1);
      if (tokens[at++] !== ")") throw refused(`The formula ${shown(text)} lacks a closing parenthesis.`);
      return inner;
    }
    if (/^\d/.test(token)) return { kind: "number", value: Number(token) };
    if (!/^[A-Z]$/.test(token))
      throw refused(`In the formula ${shown(text)} a number or letter is missing at ${token}.`);
    return { kind: "series", index: indexOf(token, text, seriesCount) };
  };
  const formula = sum(0);
  if (at < tokens.length) throw refused(`The formula ${shown(text)} cannot be read at ${shown(tokens[at])}.`);
  return formula;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const end = typeof text === "string" ? text.trimEnd().length : 0;
  if (end === 0) throw refused("A formula is empty: write one such as A / B, or leave it out.");
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const from = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (!found)
      throw refused(
        `The formula ${shown(text)} cannot be read at ${shown(text.slice(from, from + 10))}: use letters of series, numbers, + - * / and parentheses.`,
      );
    const [, number, letter, sign = ""] = found;
    tokens.push(number ?? letter?.toUpperCase() ?? SIGNS[sign] ?? sign);
  }
  return tokens;
}

function indexOf(letter: string, text: string, seriesCount: number): number {
  const index = letter.charCodeAt(0) - "A".charCodeAt(0);
  if (index < seriesCount) return index;
  const last = letterOf(seriesCount - 1);
  const known = seriesCount === 1 ? "the only series is A" : `series are A to ${last}`;
  throw refused(`The formula ${shown(text)} names ${letter}, but ${known}.`);
}

export function letterOf(index: number): string {
  return String.fromCharCode("A".charCodeAt(0) + index);
}

/** The value, or null when a part of it is null, a divisor is zero, or it is too large for a number. */
export function computedValue(formula: Formula, series: readonly (number | null)[]): number | null {
  const value = partValue(formula, series);
  return value === null || !Number.isFinite(value) ? null : value + 0;
}

function partValue(formula: Formula, series: readonly (number | null)[]): number | null {
  switch (formula.kind) {
    case "number":
      return formula.value;
    case "series":
      return series[formula.index] ?? null;
    case "minus": {
      const of = partValue(formula.of, series);
      return of === null ? null : -of;
    }
    case "operation": {
      const left = partValue(formula.left, series);
      const right = partValue(formula.right, series);
      if (left === null || right === null || (formula.operator === "/" && right === 0)) return null;
      return operate(formula.operator, left, right);
    }
  }
}

function operate(operator: "+" | "-" | "*" | "/", left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
  }
}
