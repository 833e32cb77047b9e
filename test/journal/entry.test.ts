import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeEntry, ENTRY_KINDS, type EntryHead } from "../../src/journal/entry.ts";
import { RECORD_HEADER_BYTES, scanRecord, sealRecord } from "../../src/journal/record.ts";
import { encoded } from "./encoded.ts";
import { entryOf } from "./temp-journal.ts";

const indexed = fc.array(fc.tuple(fc.nat(999), fc.string()));
const heads = fc.record(
  {
    kind: fc.constantFrom(...ENTRY_KINDS),
    app: fc.nat(),
    client: fc.string({ unit: "binary" }),
    at: fc.nat(4_102_444_800_000),
    ip: fc.ipV6(),
    ua: fc.string({ unit: "grapheme" }),
    registered: fc.constantFrom("yes", "unknown", "not_required"),
    rejected: indexed,
    omitted: indexed,
    cut: indexed,
    gzip: fc.nat(),
  },
  { requiredKeys: ["kind", "app", "client", "at", "ip", "ua", "registered"], noNullPrototype: true },
);

test("an entry is read back as written, its body to the byte", () => {
  fc.assert(
    fc.property(heads, fc.uint8Array(), (head, body) => {
      const record = encoded({ head: head as EntryHead, body: Buffer.from(body) });
      sealRecord(record, 0);
      const scan = scanRecord(record, 0, 0);
      expect(scan.kind === "record" && decodeEntry(scan.payload)).toEqual({ head, body: Buffer.from(body) });
    }),
  );
});

test("an entry of an unknown kind is refused", () => {
  const record = encoded(entryOf("{}", { kind: "touch_of_tomorrow" as never }));
  expect(() => decodeEntry(record.subarray(RECORD_HEADER_BYTES))).toThrow(/unknown kind "touch_of_tomorrow"/);
});

test.each<[Partial<EntryHead>]>([
  [{ app: undefined as never }],
  [{ app: 2 ** 31 }],
  [{ app: -1 }],
  [{ client: 7 as never }],
  [{ at: undefined as never }],
  [{ at: 1e300 }],
  [{ at: "now" as never }],
])("an entry with %j in its head is refused, because no table could hold it", (head) => {
  // Written as another program would: our own encoder never makes such a head.
  const text = Buffer.from(JSON.stringify(entryOf("{}", head).head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  expect(() => decodeEntry(Buffer.concat([length, text, Buffer.from("{}")]))).toThrow(/head of the entry/);
});

test("bytes that are no entry are refused with an error", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(() => decodeEntry(Buffer.from(bytes))).toThrow(Error);
    }),
  );
  const record = encoded(entryOf("{}"));
  for (let length = 0; length < record.length - RECORD_HEADER_BYTES - 2; length += 1)
    expect(() => decodeEntry(record.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + length))).toThrow(Error);
});
