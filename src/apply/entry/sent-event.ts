import type { NewEvent } from "../../db/event.ts";
import { EventTails } from "../../db/event-tails.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { SentPayment } from "./payment.ts";
import type { SentRefund } from "./refund.ts";

/** What events of one app have in common when they have the same name and the same properties. */
export type EventSort = {
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
  sort: EventSort;
  atMs: number;
  fingerprint: string;
  told: Told | undefined;
  tails: EventTails;
  from: number;
  until: number;
};

/** One event, ready to be stored once it is known to be new. */
export class SentEvent implements NewEvent {
  readonly sort: EventSort;
  readonly atMs: number;
  readonly fingerprint: string;
  readonly told: Told | undefined;
  readonly tails: EventTails;
  readonly from: number;
  readonly until: number;
  /** The day in the app's time zone; empty until the settings of the app are known (see batch.ts). */
  day = "";
  #properties: JsonObject | undefined;

  constructor({ sort, atMs, fingerprint, told, tails, from, until }: SentEventOptions) {
    this.sort = sort;
    this.atMs = atMs;
    this.fingerprint = fingerprint;
    this.told = told;
    this.tails = tails;
    this.from = from;
    this.until = until;
  }

  get type(): EventSort["type"] {
    return this.sort.type;
  }

  get event(): string {
    return this.sort.event;
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
    for (const name of ["$ip", "$ua"]) if (!this.sort.names.includes(name)) delete properties[name];
    return properties;
  }
}

export type DecodedEvent = EventSort & {
  atMs: number;
  fingerprint: string;
  propertiesText: string;
  told: Told | undefined;
};

/** The events of entries that are decoded together. */
export class SentEvents {
  readonly tails: EventTails;
  /** By their list of names, which is the same object for most events that have the same names. */
  readonly #sorts = new Map<readonly string[], Map<string, EventSort>>();

  /** `bytes`: those of the entries. Their events need about as many. */
  constructor(bytes: number) {
    this.tails = EventTails.empty(bytes);
  }

  add(event: DecodedEvent): SentEvent {
    const { atMs, fingerprint, told } = event;
    const { tails } = this;
    const { from, until } = tails.add(event);
    return new SentEvent({ sort: this.#sortOf(event), atMs, fingerprint, told, tails, from, until });
  }

  #sortOf({ appId, type, event, names }: EventSort): EventSort {
    let sorts = this.#sorts.get(names);
    if (!sorts) {
      sorts = new Map();
      this.#sorts.set(names, sorts);
    }
    const known = sorts.get(event);
    if (known?.appId === appId && known.type === type) return known;
    const sort = { appId, type, event, names };
    sorts.set(event, sort);
    return sort;
  }
}
