import type { JsonObject, JsonValue } from "../json.ts";

/** What can be wrong with how an app sends its data. A closed list: the console has a sentence of help for each. */
export const FINDING_KINDS = [
  ...["refused_calls", "rejected_events", "bad_properties", "undeclared_event", "encrypted_events", "time_unit"],
  ...["clock_systematic", "clock_skew", "unregistered_client", "device_not_decrypted", "debug_in_production"],
  ...["placeholder_client_id", "shared_client_id", "openid_is_app_id", "shared_openid", "shared_address"],
  ...["missing_user_agent", "nothing_to_attribute_by", "unreplaced_macro", "touch_without_key", "unknown_campaign"],
  ...["amount_unit", "ecpm_unit", "payment_without_order_id", "repeated_order", "currency_without_rate"],
  "many_duplicates",
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** error: data is lost or wrong. warning: something will be missing from reports. hint: worth knowing. */
export const SEVERITIES = ["error", "warning", "hint"] as const;
export type Severity = (typeof SEVERITIES)[number];

export type Finding = {
  kind: FindingKind;
  severity: Severity;
  /** The number of what the rule counts: calls, events, clients, orders. */
  count: number;
  /** The names of the events, parameters or clients concerned; only the first ones of many. */
  subjects: string[];
  /** The latest occurrence. */
  example: JsonObject;
  firstAtMs: number;
  lastAtMs: number;
};

const SUBJECTS_MAX = 20;
const TEXT_LENGTH_MAX = 200;

/** The evidence for a finding, collected piece by piece. */
export class Evidence {
  readonly #subjects = new Set<string>();
  #count = 0;
  #example: JsonObject = {};
  #firstAtMs = Number.POSITIVE_INFINITY;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#count;
  }

  add(atMs: number, example: JsonObject, subject?: string): void {
    this.#count += 1;
    if (subject !== undefined && this.#subjects.size < SUBJECTS_MAX) this.#subjects.add(cut(subject));
    this.#firstAtMs = Math.min(this.#firstAtMs, atMs);
    if (atMs < this.#lastAtMs) return;
    this.#lastAtMs = atMs;
    this.#example = example;
  }

  /** The finding, or undefined without evidence. `count` replaces the number of pieces of evidence. */
  finding(kind: FindingKind, severity: Severity, count = this.#count): Finding | undefined {
    if (this.#count === 0) return undefined;
    const example = Object.fromEntries(Object.entries(this.#example).map(([name, value]) => [name, short(value)]));
    return {
      kind,
      severity,
      count,
      subjects: [...this.#subjects],
      example,
      firstAtMs: this.#firstAtMs,
      lastAtMs: this.#lastAtMs,
    };
  }
}

function short(value: JsonValue): JsonValue {
  return typeof value === "string" ? cut(value) : value;
}

function cut(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
}

/** One finding of each kind, worst first. Of two, the first one's example is shown: a call says more than a sum. */
export function mergeFindings(findings: readonly (Finding | undefined)[]): Finding[] {
  const merged = new Map<FindingKind, Finding>();
  for (const finding of findings) {
    if (!finding) continue;
    const known = merged.get(finding.kind);
    merged.set(finding.kind, known ? together(known, finding) : finding);
  }
  return [...merged.values()].sort(
    (left, right) =>
      SEVERITIES.indexOf(left.severity) - SEVERITIES.indexOf(right.severity) ||
      FINDING_KINDS.indexOf(left.kind) - FINDING_KINDS.indexOf(right.kind),
  );
}

/** Both look at overlapping data, so their counts are not added. */
function together(one: Finding, other: Finding): Finding {
  const severity = SEVERITIES.find((candidate) => candidate === one.severity || candidate === other.severity)!;
  return {
    kind: one.kind,
    severity,
    count: Math.max(one.count, other.count),
    example: one.example,
    subjects: [...new Set([...one.subjects, ...other.subjects])].slice(0, SUBJECTS_MAX),
    firstAtMs: Math.min(one.firstAtMs, other.firstAtMs),
    lastAtMs: Math.max(one.lastAtMs, other.lastAtMs),
  };
}
