import type { JsonObject } from "../json.ts";
import type { AdIds } from "./touch.ts";

/** What a registration, or a later return, tells by itself about where the user came from. Kept as it was sent. */
export type Launch = {
  /** The launch query. */
  adData?: JsonObject;
  /** The campaign that the client names: promoted_object_id, or turbo_promoted_object_id of the query. */
  campaignId?: string;
  /** A click id that came beside the query, and the platform that the client takes it to be of. */
  clickId?: string;
  mediaType?: string;
  /** Of a user brought over from another system: the platform there. */
  company?: string;
  /** What Apple answered to the AdServices token. */
  apple?: JsonObject;
};

/** Where a user came from, as a decision found it. */
export type Source = AdIds & {
  adPlatform: string;
  turboPromotedObjectId: string;
  touchedAtMs: number | null;
  adData: JsonObject;
  method: string;
};

/** The last time that a known user registered again, where the app attributes returns anew. */
export type Return = {
  atMs: number;
  launch: Launch;
  ip: string;
  ua: string;
  /** It came after the days of silence that the rules ask for; else only a new click can win the user. */
  isReflux: boolean;
  /** The instant of the decision before it. */
  beforeMs: number;
  /** The number of its own decision; 0 while none was made. */
  number: number;
  /** The decision that held before its own, where that was on a return too: it holds again when this one is withdrawn. */
  earlier?: { number: number; source: Source };
};
