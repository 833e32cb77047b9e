import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BodyHeaders, isPacked, isPlain, saidBytes, unpackBody } from "../../../src/intake/body/sent-body.ts";
import { LIMITS } from "../../../src/limits.ts";

const headersOf = (more: Partial<BodyHeaders> = {}): BodyHeaders => ({
  contentType: "",
  contentEncoding: "",
  gravityCompress: "",
  ...more,
});
const GZIP = headersOf({ gravityCompress: "gzip" });

/** A form as the runtime writes it. */
async function formOf(
  fields: readonly (readonly [string, string])[],
): Promise<{ bytes: Buffer; headers: BodyHeaders }> {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  const response = new Response(form);
  const contentType = response.headers.get("content-type")!;
  return { bytes: Buffer.from(await response.arrayBuffer()), headers: headersOf({ contentType }) };
}

describe("a beacon's form", () => {
  test("gives the field `data`, wherever it is and whatever else is there", async () => {
    const others = fc.array(
      fc.tuple(fc.constantFrom("a", "data2", "database", "x-data"), fc.string({ unit: "binary" })),
      {
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), others, others, async (content, before, after) => {
        const data = Buffer.from(content).toString("base64");
        const { bytes, headers } = await formOf([...before, ["data", data], ...after]);
        expect(unpackBody(bytes, headers, 1e6)).toEqual(Buffer.from(content));
        const packed = gzipSync(bytes);
        expect(unpackBody(packed, { ...headers, contentEncoding: "gzip" }, 1e6)).toEqual(Buffer.from(content));
      }),
      { numRuns: 20 },
    );
  });

  test.each<[string, string, string]>([
    [
      "has no field `data`",
      "multipart/form-data; boundary=x",
      '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--',
    ],
    [
      "cannot be read",
      "multipart/form-data; boundary=x",
      '--x\r\ncontent-disposition: form-data; name="data"\r\n\r\nAAAA',
    ],
    ["cannot be read", "multipart/form-data; boundary=x", "nothing of the kind"],
    ["cannot be read", "multipart/form-data", "--undefined"],
  ])("that %s is refused (%#)", (why, contentType, text) => {
    expect(() => unpackBody(Buffer.from(text), headersOf({ contentType }), 1e6)).toThrow(why);
  });

  test("with more parts than any browser sends is refused early", async () => {
    const many = Array.from({ length: LIMITS.formParts }, (): [string, string] => ["a", "b"]);
    const { bytes, headers } = await formOf([...many, ["data", "AAAA"]]);
    expect(() => unpackBody(bytes, headers, 1e6)).toThrow(/cannot be read/);
  });
});

test("gzip states its unpacked size, and is never unpacked beyond the limit", () => {
  const packed = gzipSync(Buffer.alloc(1_000_000, " "));
  expect(saidBytes(packed, GZIP)).toBe(1_000_000);
  expect(saidBytes(Buffer.from("{}"), GZIP)).toBe(2);
  expect(unpackBody(packed, GZIP, 1_000_000)).toHaveLength(1_000_000);
  expect(() => unpackBody(packed, GZIP, 999_999)).toThrow(/larger than 999999 bytes/);
  // Two members: only the second one's size is stated.
  const liar = Buffer.concat([packed, gzipSync("{}")]);
  expect(saidBytes(liar, GZIP)).toBe(2);
  expect(() => unpackBody(liar, GZIP, 1_000_000)).toThrow(/larger than/);
});

test.each<[Partial<BodyHeaders>, boolean, boolean]>([
  [{}, true, false],
  [{ gravityCompress: "none" }, true, false],
  [{ gravityCompress: "GZIP" }, false, true],
  [{ contentEncoding: "gzip" }, false, true],
  [{ contentType: "multipart/form-data; boundary=x" }, false, false],
  [{ contentType: "multipart/form-data; boundary=x", contentEncoding: "gzip" }, false, false],
])("%j is plain: %s, packed: %s", (more, plain, packed) => {
  expect([isPlain(headersOf(more)), isPacked(headersOf(more))]).toEqual([plain, packed]);
});
