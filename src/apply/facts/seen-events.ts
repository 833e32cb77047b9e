import type { EventTails } from "../../db/event-tails.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { UserMap } from "../entry/user-map.ts";

/** What tells an event apart: the number of its user, and the four words of its fingerprint. */
const WORDS = 5;
const SLOTS_MIN = 16;

/** Spreads the users: the first word of a fingerprint spreads the events of one. */
const SPREAD = 0x9e3779b1;

/**
 * The events that are not new, by user: those in the database and those of the batch so far. They are numbers in a table of slots:
 * as texts in sets, they were a seventh of what V8 had to move and mark.
 */
export class SeenEvents {
  readonly #users = new UserMap<number>();
  #userCount = 0;
  readonly #slots: Int32Array;
  readonly #mask: number;

  /** `eventsMax`: how many there can be. No more than half of the slots are ever taken, so that a free one is near. */
  constructor(eventsMax: number) {
    const count = 2 ** Math.ceil(Math.log2(Math.max(SLOTS_MIN, 2 * eventsMax)));
    this.#slots = new Int32Array(WORDS * count);
    this.#mask = count - 1;
  }

  /** The number of a user in this batch; 0 is nobody's. */
  userNumber(user: UserKey): number {
    let number = this.#users.get(user);
    if (number === undefined) {
      this.#userCount += 1;
      number = this.#userCount;
      this.#users.set(user, number);
    }
    return number;
  }

  /** Notes an event of the batch. Returns false if it is not new. */
  add(userNumber: number, { tails, from }: { tails: EventTails; from: number }): boolean {
    return this.#note(userNumber, tails.bytes, tails.fingerprintFrom(from));
  }

  /** Notes an event of the database, which is one that the batch holds again. */
  addStored(event: UserKey & { fingerprint: string }): void {
    this.#note(this.userNumber(event), Buffer.from(event.fingerprint, "hex"), 0);
  }

  #note(user: number, bytes: Buffer, from: number): boolean {
    const slots = this.#slots;
    const one = bytes.readInt32LE(from);
    const two = bytes.readInt32LE(from + 4);
    const three = bytes.readInt32LE(from + 8);
    const four = bytes.readInt32LE(from + 12);
    // Each event has steps of its own: whoever sends events that all begin in one slot does not make a chain of them.
    const step = two | 1;
    let slot = (one ^ Math.imul(user, SPREAD)) & this.#mask;
    let at = WORDS * slot;
    while (slots[at] !== 0) {
      const isSame =
        slots[at] === user &&
        slots[at + 1] === one &&
        slots[at + 2] === two &&
        slots[at + 3] === three &&
        slots[at + 4] === four;
      if (isSame) return false;
      slot = (slot + step) & this.#mask;
      at = WORDS * slot;
    }
    slots[at] = user;
    slots[at + 1] = one;
    slots[at + 2] = two;
    slots[at + 3] = three;
    slots[at + 4] = four;
    return true;
  }
}
