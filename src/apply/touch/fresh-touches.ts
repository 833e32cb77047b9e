import type { KeyRow, RangeLookup } from "../../db/touch.ts";
import type { ReadTouch } from "../../platform/link.ts";
import { pushTo } from "./lists.ts";

/** A touch that a batch has brought and that was not stored before. */
export type FreshTouch = ReadTouch & {
  appId: number;
  /** The Monday of the week whose partition will hold the touch. */
  week: string;
  /** The position of its entry in the journal. */
  position: number;
};

const NONE: readonly never[] = [];

/**
 * The new touches of a batch. They are stored only after the batch's decisions, because each decision counts only
 * touches up to its own journal position.
 */
export class FreshTouches {
  readonly list: readonly FreshTouch[];
  readonly #byKey = new Map<string, FreshTouch[]>();

  constructor(list: readonly FreshTouch[]) {
    this.list = list;
    for (const touch of list) {
      for (const key of storedKeysOf(touch)) pushTo(this.#byKey, `${touch.appId} ${key}`, touch);
    }
  }

  /** The touches under a key, in journal order. */
  under({ appId, key }: { appId: number; key: string }): readonly FreshTouch[] {
    // A batch of registrations alone asks several times for each of its keys.
    if (this.list.length === 0) return NONE;
    return this.#byKey.get(`${appId} ${key}`) ?? NONE;
  }

  /** The touches under a key up to the decision's position, in the same form as stored ones. */
  rowsUnder({ appId, key, seenUntil }: RangeLookup): readonly KeyRow[] {
    const all = this.under({ appId, key });
    if (all.length === 0) return NONE;
    const seen = all.filter(({ position }) => position <= seenUntil);
    return seen.map(({ week, touch: { touchedAtMs, touchId } }) => ({ appId, key, touchedAtMs, touchId, week }));
  }
}

/** The keys under which a touch is stored: those that find users, and the one that counts its address. */
export function storedKeysOf({ keys, addressKey }: Pick<FreshTouch, "keys" | "addressKey">): string[] {
  return [...keys.map((key) => key.value), ...(addressKey === undefined ? [] : [addressKey])];
}
