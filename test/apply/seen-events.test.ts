import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SeenEvents } from "../../src/apply/facts/seen-events.ts";
import { EventTails } from "../../src/db/event-tails.ts";
import { wholeProperties } from "../../src/domain/event/origin.ts";

const USERS = [
  { appId: 1, clientId: "a" },
  { appId: 1, clientId: "b" },
  { appId: 2, clientId: "a" },
];

/** Events of few users with few fingerprints, so that many repeat. `isStored`: the database has it. */
const events = fc.array(fc.record({ user: fc.constantFrom(...USERS), number: fc.nat(20), isStored: fc.boolean() }), {
  maxLength: 200,
});

test("an event is new once for each user, unless the database has it", () => {
  fc.assert(
    fc.property(events, (list) => {
      const seen = new SeenEvents(list.length);
      const known = new Set<string>();
      const tails = EventTails.empty(0);
      for (const { user, number, isStored } of list) {
        const key = `${user.appId} ${user.clientId} ${number}`;
        const fingerprint = fingerprintOf(number);
        if (isStored) seen.addStored({ ...user, fingerprint });
        else {
          const { from } = tails.add({ atMs: number, fingerprint, event: "e", properties: wholeProperties("{}") });
          expect(seen.add(seen.userNumber(user), { tails, from })).toBe(!known.has(key));
        }
        known.add(key);
      }
    }),
  );
});

test("fingerprints that differ in a single byte are different events", () => {
  const seen = new SeenEvents(17);
  const user = seen.userNumber(USERS[0]!);
  const bytes = Buffer.from(fingerprintOf(0), "hex");
  const tails = EventTails.empty(0);
  const isNew = (fingerprint: string) => {
    const { from } = tails.add({ atMs: 0, fingerprint, event: "e", properties: wholeProperties("{}") });
    return seen.add(user, { tails, from });
  };
  expect(isNew(bytes.toString("hex"))).toBe(true);
  for (let place = 0; place < bytes.length; place += 1) {
    const other = Buffer.from(bytes);
    other[place]! ^= 1;
    expect(isNew(other.toString("hex"))).toBe(true);
  }
  expect(isNew(bytes.toString("hex"))).toBe(false);
});

function fingerprintOf(number: number): string {
  return createHash("md5").update(String(number)).digest("hex");
}
