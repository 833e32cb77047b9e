import { countedAddress } from "../domain/network.ts";
import type { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { Refusals } from "./refusals.ts";

/** Addresses whose calls are counted. */
const ADDRESSES_MAX = 50_000;

/** What an app or an address may send in the long run. */
export type Rate = { entriesPerS: number; bytesPerS: number };

type Short = { of: "entries" | "bytes"; retryAfterS: number };

/**
 * How much each key may still send. Up to half a minute's worth is saved, so that a burst passes. A call passes as long
 * as anything is left; a large one may leave a debt, for which the next ones wait.
 */
export class Budgets<Key> {
  readonly #rate: Rate;
  readonly #keysMax: number;
  readonly #left = new Map<Key, { entries: number; bytes: number; atMs: number }>();

  constructor(rate: Rate, keysMax: number) {
    this.#rate = rate;
    this.#keysMax = keysMax;
  }

  /** What the budget lacks for a call, or undefined when the call may pass and has been counted. */
  take(key: Key, bytes: number, nowMs: number): Short | undefined {
    const { entriesPerS, bytesPerS } = this.#rate;
    const left = this.#left.get(key) ?? this.#begin(key, nowMs);
    // A clock that was set back adds nothing and takes nothing away.
    const passedS = Math.max(0, nowMs - left.atMs) / 1000;
    left.atMs = nowMs;
    left.entries = Math.min(entriesPerS * LIMITS.budgetBurstS, left.entries + passedS * entriesPerS);
    left.bytes = Math.min(bytesPerS * LIMITS.budgetBurstS, left.bytes + passedS * bytesPerS);
    if (left.entries < 1) return { of: "entries", retryAfterS: wholeS((1 - left.entries) / entriesPerS) };
    if (left.bytes <= 0) return { of: "bytes", retryAfterS: wholeS(-left.bytes / bytesPerS) };
    left.entries -= 1;
    left.bytes -= bytes;
    return undefined;
  }

  /** Charges bytes that a call turned out to hold beyond those counted. */
  charge(key: Key, bytes: number): void {
    const left = this.#left.get(key);
    if (left) left.bytes -= bytes;
  }

  #begin(key: Key, nowMs: number) {
    const { entriesPerS, bytesPerS } = this.#rate;
    const all = { entries: entriesPerS * LIMITS.budgetBurstS, bytes: bytesPerS * LIMITS.budgetBurstS, atMs: nowMs };
    if (this.#left.size >= this.#keysMax) this.#left.delete(this.#left.keys().next().value!);
    this.#left.set(key, all);
    return all;
  }
}

function wholeS(seconds: number): number {
  return Math.max(1, Math.ceil(seconds));
}

/** The budgets of apps for calls with a token, and of addresses for calls without one. */
export class IntakeBudgets {
  readonly #ofApps: Budgets<number>;
  readonly #ofAddresses: Budgets<string>;
  readonly #refusals: Refusals;

  constructor(options: { app: Rate; address: Rate; refusals: Refusals }) {
    this.#ofApps = new Budgets(options.app, LIMITS.apps);
    this.#ofAddresses = new Budgets(options.address, ADDRESSES_MAX);
    this.#refusals = options.refusals;
  }

  /** Why a call of an app is refused, or undefined when it is within the budget and has been counted. */
  takeFromApp(appId: number, bytes: number, nowMs: number): ApiError | undefined {
    const short = this.#ofApps.take(appId, bytes, nowMs);
    return short && this.#refusals.refuse(appId, short.of, short.retryAfterS);
  }

  /** Charges the unpacked size of a packed body, because that is what has to be stored. */
  chargeApp(appId: number, bytes: number): void {
    this.#ofApps.charge(appId, bytes);
  }

  /** Why a link call is refused, or undefined. `appId`: the app that it names, or 0. */
  takeFromAddress(call: { address: string; appId: number; bytes: number }, nowMs: number): ApiError | undefined {
    const { address, appId, bytes } = call;
    const key = address.includes(":") ? countedAddress(address) : address;
    const short = this.#ofAddresses.take(key, bytes, nowMs);
    return short && this.#refusals.refuse(appId, "address", short.retryAfterS);
  }
}
