import fc from "fast-check";
import { expect, test } from "vitest";
import { countLines, isBlank, linesOf, offsetAfter, readHistoryLine } from "../../src/intake/history-line.ts";
import { LIMITS } from "../../src/limits.ts";

const read = (text: string | Buffer) => readHistoryLine(Buffer.from(text));

test("a line is an event with the id of its client, every digit of it", () => {
  expect(read('{"client_id":"a","event":"e"}')).toMatchObject({ kind: "event", clientId: "a", event: { event: "e" } });
  expect(read(' {"client_id":12345678901234567891} \r')).toMatchObject({ clientId: "12345678901234567891" });
});

test.each([
  ["is not JSON", "{"],
  ["is not valid UTF-8", Buffer.from([0x22, 0xe9, 0x22])],
  ["has no client_id", "[]"],
  ["has no client_id", '{"client_id":{}}'],
  ["has an invalid client_id", '{"client_id":""}'],
  ["has an invalid client_id", JSON.stringify({ client_id: "x".repeat(129) })],
  [`is longer than ${LIMITS.historyLineBytes} bytes`, " ".repeat(LIMITS.historyLineBytes + 1)],
  ["is nested too deeply, or holds too many values", `[${"0,".repeat(LIMITS.bodyValues)}0]`],
])("a line %s", (fault, text) => {
  expect(read(text)).toEqual({ kind: "faulty", fault });
});

test("only white space makes a line blank", () => {
  for (const text of ["", " \t", "\r"]) expect(isBlank(Buffer.from(text))).toBe(true);
  for (const text of ["0", " {", "\u00a0"]) expect(isBlank(Buffer.from(text))).toBe(false);
});

test("the lines of some bytes are the bytes, and the rest begins after any number of them", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("a", "bc", "\n", "\r\n", "é"), { maxLength: 30 }),
      fc.nat(30),
      (parts, taken) => {
        const text = parts.join("");
        const bytes = Buffer.from(text);
        const lines = [...linesOf(bytes)].map(String);
        expect(lines).toEqual(text === "" ? [] : text.replace(/\n$/, "").split("\n"));
        expect(countLines(bytes)).toBe(lines.length);
        expect([...linesOf(bytes.subarray(offsetAfter(bytes, taken)))].map(String)).toEqual(lines.slice(taken));
      },
    ),
  );
});
