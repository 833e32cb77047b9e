import type { Join } from "../../../../src/contract/analysis/condition.ts";
import type { Comparison, Did, Segment, SegmentCondition } from "../../../../src/contract/analysis/segment.ts";
import { completed, isComplete, parsed } from "../analysis/state.ts";

/** The segment as it stands in the address. */
export const DEFAULTS = {
  from: "",
  to: "",
  /** The id of the saved segment that is open. */
  segment: "",
  /** Its conditions as they are edited, as JSON; empty: as they were saved. */
  condition: "",
};
export type UrlState = Record<keyof typeof DEFAULTS, string>;

/** Conditions of one level, as the page edits them. What lies deeper, in segments from elsewhere, stays one part. */
export type Draft = { join: Join; parts: readonly Segment[] };

export const KINDS = ["did", "did_not", "user", "registered"] as const;
export type Kind = (typeof KINDS)[number];
export const COMPARISONS: readonly Comparison[] = ["at_least", "greater", "equal", "at_most", "less", "between"];
export const MEASURES: readonly Did["measure"][] = ["count", "days", "sum"];
export const CONDITIONS_MAX = 50;

const FIRST: Segment = { kind: "did", source: "event", measure: "count", operator: "at_least", values: [1] };

export function newCondition(kind: Kind): SegmentCondition {
  switch (kind) {
    case "did":
      return { kind, source: "event", measure: "count", operator: "at_least", values: [1] };
    case "did_not":
      return { kind, source: "event" };
    case "user":
      return { kind, field: "", operator: "equal", values: [] };
    case "registered":
      return { kind };
  }
}

/** What is edited: what stands in the address, else the saved condition, else a first one. */
export function draftOf(text: string, saved: Segment | undefined): Draft {
  const found = parsed(text);
  return levelOf(isSegment(found) ? found : (saved ?? FIRST));
}

export function textOf({ join, parts }: Draft): string {
  return JSON.stringify(parts.length === 1 ? parts[0] : { join, parts });
}

function levelOf(segment: Segment): Draft {
  return "join" in segment ? segment : { join: "and", parts: [segment] };
}

/** The address may have been typed by hand. */
function isSegment(value: unknown): value is Segment {
  const { kind, join, parts } = (value ?? {}) as { kind?: unknown; join?: unknown; parts?: unknown };
  if (join === undefined) return KINDS.some((one) => one === kind);
  return (join === "and" || join === "or") && Array.isArray(parts) && parts.length > 0 && parts.every(isSegment);
}

/** The condition to ask for: without those that are not complete yet; undefined: none is. */
export function segmentOf({ join, parts }: Draft): Segment | undefined {
  const complete = parts.flatMap((part): Segment[] => ("join" in part ? [part] : completeOf(part)));
  return complete.length > 1 ? { join, parts: complete } : complete[0];
}

function completeOf(part: SegmentCondition): SegmentCondition[] {
  switch (part.kind) {
    case "did": {
      const hasNumber = part.measure !== "sum" || part.property !== undefined || part.amount !== undefined;
      return hasNumber && part.values.length === valuesOf(part.operator) ? [completed(part)] : [];
    }
    case "did_not":
      return [completed(part)];
    case "user":
      return isComplete(part) ? [part] : [];
    case "registered":
    case "saved":
      return [part];
  }
}

/** Whether two conditions say the same. The server keeps the members of objects in an order of its own. */
export function isSame(one: Segment | undefined, other: Segment | undefined): boolean {
  return inOrder(one) === inOrder(other);
}

function inOrder(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

/** How many numbers a comparison takes. */
export function valuesOf(operator: Comparison): 1 | 2 {
  return operator === "between" ? 2 : 1;
}
