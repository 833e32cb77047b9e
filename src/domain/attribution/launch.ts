import type { JsonObject } from "../json.ts";
import type { AdIds } from "./touch.ts";

/** What a registration or a return itself says about the user's source, kept as it was sent. */
export type Launch = {
  /** The launch query. */
  adData?: JsonObject;
  /** The campaign that the client names: promoted_object_id, or turbo_promoted_object_id of the query. */
  campaignId?: string;
  /** A click id sent beside the query, and the platform that the client names for it. */
  clickId?: string;
  mediaType?: string;
  /** The platform that another system recorded, for an imported user. */
  company?: string;
  /** Apple's answer to the AdServices token. */
  apple?: JsonObject;
};

/** A user's source, as a decision found it. */
export type Source = AdIds & {
  adPlatform: string;
  campaignId: string;
  touchedAtMs: number | null;
  adData: JsonObject;
  method: string;
};

/** The last time that a known user registered again, in an app that attributes returns. */
export type Return = {
  atMs: number;
  launch: Launch;
  ip: string;
  ua: string;
  /** Whether it came after the days of silence that the rules require; otherwise only a new click can win the user. */
  isReflux: boolean;
  /** The instant of the previous decision. */
  beforeMs: number;
  /** The number of its own decision, or 0 before there is one. */
  number: number;
  /** The previous decision, when that was about a return too. It holds again when this one is withdrawn. */
  earlier?: { number: number; source: Source };
};
