import type { SentEvent } from "./call.ts";
import type { Someone } from "./someone.ts";

/** An event as a client makes it, before it is sent. */
export type Made = {
  sent: SentEvent;
  wire: { type: string; event: string; time: number; properties: object; time_free?: true };
};

/** Makes a person's events and numbers them. */
export class Desk {
  readonly #person: Someone;
  #count = 0;

  constructor(person: Someone) {
    this.#person = person;
  }

  track(event: string, atMs: number, properties: object): Made {
    const happening = { kind: event === "$MPRegister" || event === "$AppRegister" ? "register" : "active" } as const;
    return this.#made("track", event, atMs, properties, (time) => ({ ...happening, atMs: time }));
  }

  profile(event: string, atMs: number, properties: object): Made {
    return this.#made("profile", event, atMs, properties, (time) => ({ kind: "active", atMs: time }));
  }

  pay(atMs: number, order: { cents: number; orderId: string }, properties: object = {}): Made {
    const paid = { $pay_amount: order.cents, $pay_type: "CNY", $order_id: order.orderId, $pay_method: "wechat" };
    return this.#made("track", "$PayEvent", atMs, { ...paid, ...properties }, (time) => ({
      kind: "pay",
      atMs: time,
      ...order,
    }));
  }

  /** Without cents, all that is left of the order is paid back. */
  refund(
    atMs: number,
    { refundId, orderId, cents }: { refundId: string; orderId: string; cents: number | null },
  ): Made {
    const properties = { $order_id: orderId, $refund_id: refundId, ...(cents === null ? {} : { $pay_amount: cents }) };
    return this.#made("track", "$RefundEvent", atMs, properties, (time) => ({
      kind: "refund",
      atMs: time,
      orderId,
      cents,
      refundId,
    }));
  }

  ad(atMs: number, micros: number): Made {
    const $ad_type = micros % 2 === 0 ? "reward" : "interstitial";
    if (this.#person.host === "wechat") {
      const unit = `adunit-${$ad_type}`;
      const silent = { $ad_type, $ad_unit_id: unit };
      return this.#made("track", "$AdShow", atMs, silent, (time) => ({ kind: "ad", atMs: time, micros: 0, unit }));
    }
    const shown = { $ecpm: micros / 1000, $ad_type, $adn_type: "csj" };
    return this.#made("track", "$AdShow", atMs, shown, (time) => ({ kind: "ad", atMs: time, micros }));
  }

  #made(
    type: "track" | "profile",
    event: string,
    atMs: number,
    properties: object,
    happening: (time: number) => SentEvent["happening"],
  ): Made {
    const { clientId, clockErrorMs, phone, version } = this.#person;
    this.#count += 1;
    const serial = `${clientId}-${this.#count}`;
    const time = Math.floor(atMs) + clockErrorMs;
    const own = type === "track" ? { $os: phone.os, $app_version: String(version) } : {};
    const wire = { type, event, time, properties: { ...properties, ...own, serial } };
    return { wire, sent: { serial, type, event, happening: happening(time) } };
  }
}
