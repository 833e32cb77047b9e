import { countedAddress } from "../domain/network.ts";
import { ApiError } from "../errors.ts";
import { SharedRoom } from "../shared-room.ts";
import type { Refusals } from "./refusals.ts";

/** The owner of a body: the address as it is counted, and the app. */
export type BodyOwner = { address: string; appId: number };

/** Stands for the app in calls that belong to none: sign-ins, settings, reports. */
export const NO_APP = 0;

export function bodyOwner(address: string, appId: number): BodyOwner {
  return { address: address.includes(":") ? countedAddress(address) : address, appId };
}

/**
 * The memory for bodies that are being received or not answered yet, over all connections. Only the received part of a
 * body counts, so a slow sender does not reserve more. Neither one address nor one app can take it all. Calls without
 * an app count by their address alone; otherwise one caller could use up the share of all the others.
 */
export class BodyRoom {
  readonly #byAddress: SharedRoom<string>;
  readonly #byApp: SharedRoom<number>;
  readonly #refusals: Refusals;

  constructor(options: { bytesMax: number; refusals: Refusals }) {
    this.#byAddress = new SharedRoom(options.bytesMax);
    this.#byApp = new SharedRoom(options.bytesMax);
    this.#refusals = options.refusals;
  }

  get bytes(): number {
    return this.#byAddress.used;
  }

  /** Why there is no room for more of a body, or undefined when the room has been taken. */
  take({ address, appId }: BodyOwner, bytes: number): ApiError | undefined {
    const ofAddress = this.#byAddress.take(address, bytes);
    const ofApp = ofAddress === "taken" && appId !== NO_APP ? this.#byApp.take(appId, bytes) : ofAddress;
    if (ofApp === "taken") return undefined;
    if (ofAddress === "taken") this.#byAddress.give(address, bytes);
    if (ofApp === "over_share") return this.#refusals.refuse(appId, "bodies");
    return new ApiError("overloaded", "Too many bodies are being received at the same time.", { retryAfterS: 5 });
  }

  give({ address, appId }: BodyOwner, bytes: number): void {
    this.#byAddress.give(address, bytes);
    if (appId !== NO_APP) this.#byApp.give(appId, bytes);
  }
}
