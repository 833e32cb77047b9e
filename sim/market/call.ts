import type { TouchKind } from "../../src/domain/attribution/touch.ts";
import type { Happening } from "../../test/report/oracle-market.ts";

/** What goes wrong in transit. `answer`: the answer is lost. `connection`: the connection breaks right after the request. */
export type Mishap = "none" | "answer" | "connection";

type Sending = {
  /** The time at which it is sent. */
  dueMs: number;
  ip: string;
  ua: string;
  mishap: Mishap;
};

/** An ad platform calls a campaign's link. */
export type LinkCall = Sending & {
  kind: "link";
  touch: TouchKind;
  /** The platform's id of the touch, and the time that it reports. */
  token: string;
  touchedAtMs: number;
  platform: string;
  campaignId: string;
  channel: string;
  /** The values with which the platform replaces its macros; a missing one stays unreplaced. */
  macros: Readonly<Record<string, string>>;
};

/** What the truth needs to know about an event. */
export type SentEvent = {
  /** Unique in the market and sent as a property, so that the event can be recognised. */
  serial: string;
  type: "track" | "profile";
  event: string;
  happening: Happening;
};

/** A client registers. */
export type RegisterCall = Sending & { kind: "register"; path: string; body: string };

/** A client, or the game's server, sends events. */
export type CollectCall = Sending & {
  kind: "collect";
  path: string;
  body: string;
  events: readonly SentEvent[];
  isGzip: boolean;
  headers: Readonly<Record<string, string>>;
};

export type MarketCall = LinkCall | RegisterCall | CollectCall;
