import { Networks } from "../network.ts";
import type { Rules } from "./attribution-rules.ts";
import type { TouchMethod } from "./method.ts";
import type { Touch } from "./touch.ts";

/** Signs of fraud on a touch. A flag never deletes anything: the rules say whether a flagged touch may win. */
export const FLAGS = ["flood_address", "flood_device", "future", "datacentre", "short_gap"] as const;
export type Flag = (typeof FLAGS)[number];

/** Signs of fraud on a user that show only when many users are compared. */
export const PATTERN_FLAGS = ["even_gaps", "many_clients"] as const;
export type PatternFlag = (typeof PATTERN_FLAGS)[number];

/** How far a platform's clock may be ahead of ours. */
const FUTURE_MS = 300_000;

/** How many touches within the hour around a touch share its address, and how many its device. */
export type TouchCounts = { ofAddress: number; ofDevice: number };

export function flagsOf(
  touch: Touch,
  counts: TouchCounts,
  subject: { atMs: number; methods: readonly TouchMethod[] },
  rules: Rules,
): Flag[] {
  const flags: Flag[] = [];
  const gapMs = subject.atMs - touch.touchedAtMs;
  // With a click key or an open id there is no download: a mini-game opens at once.
  const isDownload = subject.methods.every((method) => method === "device_id" || method === "ip_ua");
  if (rules.floodPerAddress > 0 && counts.ofAddress > rules.floodPerAddress) flags.push("flood_address");
  if (rules.floodPerDevice > 0 && counts.ofDevice > rules.floodPerDevice) flags.push("flood_device");
  if (touch.touchedAtMs > touch.receivedAtMs + FUTURE_MS) flags.push("future");
  if (networksOf(rules.datacentres).has(touch.ip)) flags.push("datacentre");
  if (isDownload && gapMs >= 0 && gapMs < rules.shortGapMs) flags.push("short_gap");
  return flags;
}

/** Rules are loaded for every batch, so each list is parsed once per batch. */
const networks = new WeakMap<readonly string[], Networks>();

function networksOf(list: readonly string[]): Networks {
  const known = networks.get(list) ?? new Networks(list);
  networks.set(list, known);
  return known;
}
