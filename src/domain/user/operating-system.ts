/** The operating systems that reports tell apart, besides `unknown`. The interface itself names only the first two. */
export const OPERATING_SYSTEMS = ["ios", "android", "harmony"] as const;
export type OperatingSystem = (typeof OPERATING_SYSTEMS)[number];

/** The system that a text names, which clients and platforms spell in different ways. */
export function systemOf(text: string): OperatingSystem | "unknown" {
  const lower = text.toLowerCase();
  if (/^(?:ios|iphone|ipad)/.test(lower)) return "ios";
  if (/^(?:(?:open)?harmony|ohos)/.test(lower)) return "harmony";
  return lower.startsWith("android") ? "android" : "unknown";
}
