import type { TouchKind } from "../../src/domain/attribution/touch.ts";
import type { Happening } from "../../test/report/oracle.ts";

/** What goes wrong on the way. `answer`: it never reaches the client. `connection`: it breaks right after the request. */
export type Mishap = "none" | "answer" | "connection";

type Sending = {
  /** When it is sent. */
  dueMs: number;
  ip: string;
  ua: string;
  mishap: Mishap;
};

/** An ad platform calls a campaign's link. */
export type LinkCall = Sending & {
  kind: "link";
  touch: TouchKind;
  /** By which the platform knows it, and the instant that it tells. */
  token: string;
  touchedAtMs: number;
  platform: string;
  campaignId: string;
  channel: string;
  /** What the platform puts in place of its macros; one that is missing stays as it is. */
  macros: Readonly<Record<string, string>>;
};

/** What of an event the truth has to know. */
export type SentEvent = {
  /** Unique in the market, and a property of the event, so that it is known again. */
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
