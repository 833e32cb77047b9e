import fc from "fast-check";
import { expect, test } from "vitest";
import { findRecord, RECORD_HEADER_BYTES, scanRecord, sealRecord } from "../../src/journal/record.ts";

const positions = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const payloads = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));

function recordOf(payload: Buffer, position: number): Buffer {
  const record = Buffer.alloc(RECORD_HEADER_BYTES + payload.length);
  payload.copy(record, RECORD_HEADER_BYTES);
  sealRecord(record, position);
  return record;
}

test("a record is read back as written, at any position", () => {
  fc.assert(
    fc.property(payloads, positions, payloads, payloads, (payload, position, before, after) => {
      const bytes = Buffer.concat([before, recordOf(payload, position), after]);
      const scan = scanRecord(bytes, before.length, position);
      expect(scan).toEqual({ kind: "record", payload, bytes: RECORD_HEADER_BYTES + payload.length });
    }),
  );
});

test("any flipped bit is noticed, even if more bytes follow", () => {
  fc.assert(
    fc.property(payloads, positions, payloads, (payload, position, after) => {
      const record = recordOf(payload, position);
      for (let bit = 0; bit < record.length * 8; bit += 1) {
        const damaged = Buffer.concat([record, after]);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        if (scanRecord(damaged, 0, position).kind === "record") throw new Error(`Bit ${bit} was not noticed.`);
      }
    }),
    { numRuns: 30 },
  );
});

test("a truncated record is incomplete at every length", () => {
  const record = recordOf(Buffer.from("payload"), 7);
  for (let length = 0; length < record.length; length += 1)
    expect(scanRecord(record.subarray(0, length), 0, 7)).toEqual({ kind: "incomplete" });
});

test("a record is refused at any position but its own", () => {
  fc.assert(
    fc.property(payloads, positions, positions, (payload, position, other) => {
      fc.pre(position !== other);
      expect(scanRecord(recordOf(payload, position), 0, other)).toEqual({ kind: "corrupt" });
    }),
  );
});

test("zeros and garbage are no record", () => {
  expect(scanRecord(Buffer.alloc(64), 0, 0)).toEqual({ kind: "corrupt" });
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 12 }), (bytes) => {
      expect(scanRecord(Buffer.from(bytes), 0, 0).kind).not.toBe("record");
    }),
  );
});

test("after damage the next true record is found, past magic words and records of other positions", () => {
  const [elsewhere, here] = [fc.nat({ max: 1e9 - 1 }), fc.integer({ min: 1e9, max: 1e12 })];
  const rubbish = fc.array(
    fc.oneof(
      payloads,
      fc.constant(Buffer.from("TPJ1")),
      fc.tuple(payloads, elsewhere).map(([payload, position]) => recordOf(payload, position)),
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(rubbish, payloads, here, (parts, payload, base) => {
      const before = Buffer.concat([Buffer.from([0]), ...parts]);
      const bytes = Buffer.concat([before, recordOf(payload, base + before.length)]);
      expect(findRecord(bytes, 0, base)).toBe(before.length);
      expect(findRecord(bytes, before.length + 1, base)).toBeUndefined();
    }),
  );
});
