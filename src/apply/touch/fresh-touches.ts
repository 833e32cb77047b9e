import type { KeyRow, RangeLookup } from "../../db/touch.ts";
import type { ReadTouch } from "../../platform/link.ts";

/** A touch that a batch has brought and that was not stored before. */
export type FreshTouch = ReadTouch & {
  appId: number;
  /** The Monday of the week whose partition will hold it. */
  week: string;
  /** Where its entry stands in the journal. */
  position: number;
};

/**
 * The new touches of a batch. They are stored only after its decisions are made, because each decision may count only
 * those up to its own journal position.
 */
export class FreshTouches {
  readonly list: readonly FreshTouch[];
  readonly #byKey = new Map<string, FreshTouch[]>();

  constructor(list: readonly FreshTouch[]) {
    this.list = list;
    for (const touch of list) {
      for (const key of storedKeysOf(touch)) {
        const name = `${touch.appId} ${key}`;
        const known = this.#byKey.get(name);
        if (known) known.push(touch);
        else this.#byKey.set(name, [touch]);
      }
    }
  }

  /** In the order of the journal. */
  under({ appId, key }: { appId: number; key: string }): readonly FreshTouch[] {
    return this.#byKey.get(`${appId} ${key}`) ?? [];
  }

  /** The touches under a key up to the decision's position, in the form in which stored ones are read. */
  rowsUnder({ appId, key, seenUntil }: RangeLookup): KeyRow[] {
    const seen = this.under({ appId, key }).filter(({ position }) => position <= seenUntil);
    return seen.map(({ week, touch: { touchedAtMs, touchId } }) => ({ appId, key, touchedAtMs, touchId, week }));
  }
}

/** The keys under which a touch is stored: those by which users are found, and the one by which its address is counted. */
export function storedKeysOf({ keys, addressKey }: Pick<FreshTouch, "keys" | "addressKey">): string[] {
  return [...keys.map((key) => key.value), ...(addressKey === undefined ? [] : [addressKey])];
}
