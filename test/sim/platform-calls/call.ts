import type { CostRow } from "../../../sim/platforms/costs.ts";
import type { Platforms } from "../../../sim/platforms/platforms.ts";
import type { AcceptedConversion } from "../../../sim/platforms/stand-in.ts";

export type Sent = { method: "GET" | "POST"; url: string; headers?: Record<string, string>; body?: string };

/**
 * A call as a platform's document or its public callers show it, and the platform's answer. It is written from those
 * sources alone, never from our own connectors, so that the stand-ins have a second witness.
 */
export type PlatformCall = {
  shows: string;
  /** `certain`: the platform's own page or several callers; `likely`: one good caller. */
  mark: "certain" | "likely";
  source: string;
  send(platforms: Platforms): Sent;
  /** The part of the answer that a caller reads. */
  answer: { status?: number; json: object };
  /** The conversion that the platform then holds, if it took one. */
  counts?: Partial<AcceptedConversion>;
};

export function posted(url: string, body: object, headers: Record<string, string> = {}): Sent {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

export const TODAY = "2025-10-09";
export const YESTERDAY = "2025-10-08";
export const LONG_AGO = "2025-08-31";

/** An ordinary ad and a managed one yesterday, and an ad long ago. */
export function costsOf(account: string): CostRow[] {
  const row = (day: string, adId: string, cents: number): CostRow => ({
    day,
    account,
    planId: `7${adId}`,
    planName: `Plan ${adId}`,
    adId,
    adName: `Ad ${adId}`,
    impressions: cents,
    clicks: 1,
    cents,
  });
  return [row(YESTERDAY, "11", 1000), { ...row(YESTERDAY, "12", 250), isManaged: true }, row(LONG_AGO, "11", 300)];
}
