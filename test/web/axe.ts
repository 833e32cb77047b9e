import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * Shapes whose colours axe has accepted in this worker, by theme. Colours take three quarters of axe's time, and one style
 * sheet serves all pages: tags, classes and states from the root down decide how an element looks.
 */
const known = new Map<string, Set<number>>();

/** Serious findings apart from colours: only in the open dialog, if there is one; the page behind it has its own test. */
export async function shapeFindings(page: Page): Promise<string[]> {
  await inject(page);
  const rules = Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }]));
  return page.evaluate(FIND_SHAPES, { resultTypes: ["violations"], rules });
}

/** Serious findings about colours, in elements whose shape is new in this theme. */
export async function colourFindings(page: Page): Promise<string[]> {
  await inject(page);
  const theme: string = await page.evaluate("document.documentElement.dataset.theme");
  const before = known.get(theme) ?? new Set();
  const options = { resultTypes: ["violations"], runOnly: COLOUR_RULES };
  const { findings, shapes } = await page.evaluate(FIND_COLOURS, { options, known: [...before] });
  if (findings.length === 0) known.set(theme, new Set([...before, ...shapes]));
  return findings;
}

async function inject(page: Page): Promise<void> {
  if (await page.evaluate("!globalThis.axe")) await page.evaluate(`${AXE}; ${LOOKS}`);
}

/** Runs in the page: everything that a selector of the style sheets may refer to. */
const LOOKS = `globalThis.looksOf = (element) => [
  element.localName, element.matches(":disabled"), element.textContent === "",
  ...["class", "style", "role", "type", "scope", "open", "aria-current", "aria-invalid", "aria-pressed", "aria-selected",
    "aria-sort"].map((name) => element.getAttribute(name)),
].join()`;

type Found = { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] };
type Element = {
  parentElement: Element | null;
  childNodes: Iterable<{ nodeType: number; textContent: string }>;
  checkVisibility(): boolean;
  matches(selector: string): boolean;
  querySelector(selector: string): Element | null;
  querySelectorAll(selector: string): Iterable<Element>;
};
type Tab = {
  document: Element;
  looksOf(element: Element): string;
  axe: { run(context: unknown, options: object): Promise<{ violations: Found[] }> };
};

/** Runs in the page. Rows and entries that differ only in their texts are checked once. */
const FIND_SHAPES = async (options: object): Promise<string[]> => {
  const { axe, document, looksOf } = globalThis as unknown as Tab;
  const seen = new Map<Element | null, Set<string>>();
  const include = document.querySelector("dialog[open]") ?? document;
  const exclude = [...include.querySelectorAll("tbody > tr, ol > li, ul > li")].filter((element) => {
    const shapes = seen.get(element.parentElement) ?? new Set();
    seen.set(element.parentElement, shapes);
    const shape = [element, ...element.querySelectorAll("*")].map(looksOf).join(" ");
    return shapes.has(shape) || !shapes.add(shape);
  });
  const { violations } = await axe.run(exclude.length === 0 ? include : { include: [include], exclude }, options);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} (${node.failureSummary})`));
};

type Colours = { findings: string[]; shapes: number[] };

/** Runs in the page. A shape is the hash of the parent's shape and of the element's own looks. */
const FIND_COLOURS = async (asked: { options: object; known: number[] }): Promise<Colours> => {
  const { axe, document, looksOf } = globalThis as unknown as Tab;
  const shapes = new Map<Element | null, number>();
  const shapeOf = (element: Element | null): number => {
    if (element === null) return 5381;
    let shape = shapes.get(element);
    if (shape === undefined) {
      shape = shapeOf(element.parentElement);
      for (const letter of looksOf(element)) shape = (Math.imul(shape, 33) ^ letter.codePointAt(0)!) >>> 0;
      shapes.set(element, shape);
    }
    return shape;
  };
  const isWritten = (element: Element) =>
    element.matches("input, select, textarea") ||
    [...element.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent.trim() !== "");
  const known = new Set(asked.known);
  const around = document.querySelector("dialog[open]") ?? document;
  const include = [...around.querySelectorAll("*")].filter((element) => {
    if (!isWritten(element) || element.matches("option, script, style, title")) return false;
    const shape = shapeOf(element);
    return !known.has(shape) && element.checkVisibility() && known.add(shape);
  });
  if (include.length === 0) return { findings: [], shapes: [] };
  const { violations } = await axe.run({ include }, asked.options);
  const findings = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} (${node.failureSummary})`));
  return { findings, shapes: [...known] };
};
