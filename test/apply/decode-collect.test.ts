import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeAlone } from "../../src/apply/entry/decode.ts";
import { type EntryHead, payloadOf } from "../../src/journal/entry.ts";
import { bodyText } from "../domain/event/plain/body-texts.ts";

const head = (verdicts: Partial<EntryHead>): EntryHead => ({
  kind: "collect",
  app: 1,
  client: "client-1",
  registered: "yes",
  at: 1790000000000,
  ip: "10.1.2.3",
  ua: "",
  ...verdicts,
});

/** What the transaction gets, in a form that can be compared. */
function decoded(text: string, verdicts: Partial<EntryHead>): unknown {
  const payload = payloadOf({ head: head(verdicts), body: Buffer.from(text) });
  const entry = decodeAlone({ kind: "record", from: 0, until: payload.length, payload });
  if (entry.kind !== "events") return entry.kind;
  const events = Array.from(entry.events, ({ shape, atMs, fingerprint, told, propertiesText, properties }) => {
    // Which of them has its properties already is nobody's concern.
    const { properties: _, ...rest } = told ?? {};
    return { shape, atMs, fingerprint, told: rest, propertiesText, properties };
  });
  return { received: entry.received, rejected: entry.rejected, events };
}

/** The same body, with a name that only JSON.parse can read. */
const toParse = (text: string) => text.replace("{", '{"\\u0061":0,');

const verdicts = fc.oneof(
  fc.constant({}),
  fc.record({
    rejected: fc.constantFrom<EntryHead["rejected"]>([[0, "bad_name"]], undefined),
    omitted: fc.constantFrom<EntryHead["omitted"]>([[1, "level"]], [[0, "$os"]], undefined),
    cut: fc.constantFrom<EntryHead["cut"]>([[0, "$lib"]], undefined),
  }),
);

test("a call is decoded alike from its bytes and as objects", () => {
  let events = 0;
  fc.assert(
    fc.property(bodyText, verdicts, (text, given) => {
      const found = decoded(text, given);
      expect(found).toEqual(decoded(toParse(text), given));
      if (typeof found === "object") events += 1;
    }),
    { numRuns: 2_000 },
  );
  expect(events).toBeGreaterThan(500);
});
