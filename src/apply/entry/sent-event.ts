import type { NewEvent } from "../../db/event.ts";
import type { EventTails } from "../../db/event-tails.ts";
import type { StoredProperties } from "../../domain/event/origin.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { SentPayment } from "./payment.ts";
import type { SentRefund } from "./refund.ts";

/** What events of one app have in common when they have the same name and the same names of properties. */
export type EventShape = {
  appId: number;
  type: "track" | "profile";
  event: string;
  /** The names of the properties, in the order in which they were sent. */
  names: readonly string[];
};

/** A shown ad. */
export type SentAdView = { ecpm: number; adType: string; adUnit: string };

/** What only few events tell. */
export type Told = {
  payment?: SentPayment | undefined;
  refund?: SentRefund | undefined;
  adView?: SentAdView | undefined;
  /** Where the text of the properties does not hold them as they were sent, or is sure to be read. */
  properties?: JsonObject | undefined;
};

export type SentEventOptions = {
  shape: EventShape;
  atMs: number;
  /** The day in the app's time zone; empty until the settings of the app are known (see batch.ts). */
  day: string;
  told: Told | undefined;
  tails: EventTails;
  from: number;
  until: number;
  originAt: number;
};

/** One event, ready to be stored once it is known to be new. */
export class SentEvent implements NewEvent {
  readonly shape: EventShape;
  readonly atMs: number;
  readonly day: string;
  readonly told: Told | undefined;
  readonly tails: EventTails;
  readonly from: number;
  readonly until: number;
  readonly originAt: number;
  #fingerprint: string | undefined;
  #properties: JsonObject | undefined;

  constructor({ shape, atMs, day, told, tails, from, until, originAt }: SentEventOptions) {
    this.shape = shape;
    this.atMs = atMs;
    this.day = day;
    this.told = told;
    this.tails = tails;
    this.from = from;
    this.until = until;
    this.originAt = originAt;
  }

  get type(): EventShape["type"] {
    return this.shape.type;
  }

  get event(): string {
    return this.shape.event;
  }

  get fingerprint(): string {
    this.#fingerprint ??= this.tails.fingerprintAt(this.from);
    return this.#fingerprint;
  }

  /** The payment, if the event is one. */
  get payment(): SentPayment | undefined {
    return this.told?.payment;
  }

  /** The refund, if the event is one. */
  get refund(): SentRefund | undefined {
    return this.told?.refund;
  }

  /** The properties as JSON text, with `$ip` and `$ua` for track events. */
  get propertiesText(): string {
    return this.tails.propertiesTextAt(this);
  }

  /** The properties without what the server has added. Read from their text when they are first asked for: few ever are. */
  get properties(): JsonObject {
    this.#properties ??= this.told?.properties ?? this.#read();
    return this.#properties;
  }

  #read(): JsonObject {
    const properties = JSON.parse(this.propertiesText) as JsonObject;
    delete properties.$ip;
    delete properties.$ua;
    return properties;
  }
}

export type DecodedEvent = EventShape & {
  atMs: number;
  fingerprint: string;
  /** With what the server has added. */
  properties: StoredProperties;
  told: Told | undefined;
};
