import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { csvLine } from "../../src/domain/csv.ts";

test.each<[what: string, value: unknown, cell: string]>([
  ["a text", "abc", "abc"],
  ["nothing", "", ""],
  ["null", null, ""],
  ["undefined", undefined, ""],
  ["a number", 1.5, "1.5"],
  ["a negative number", -3, "-3"],
  ["a large number", 1_718_424_000_000, "1718424000000"],
  ["true", true, "true"],
  ["false", false, "false"],
  ["a comma", "a,b", '"a,b"'],
  ["a quote", 'say "hi"', '"say ""hi"""'],
  ["a line break", "a\nb", '"a\nb"'],
  ["a carriage return within", "a\rb", '"a\rb"'],
  ["Chinese", "夏季推广", "夏季推广"],
  ["blanks at its ends", " a ", " a "],
  ["an object", { a: "x,y" }, '"{""a"":""x,y""}"'],
  ["a list", ["a"], '"[""a""]"'],
  ["a dash alone, which stands for no time", "-", "-"],
])("%s", (_, value, cell) => {
  expect(csvLine([value])).toBe(`${cell}\r\n`);
});

test.each(["=1+1", "+1", "-1", "@sum", "\tx", "=", "+", "@", "--", "-2+3", "＝1", "＋1", "－1", "＠a"])(
  "a text that a spreadsheet would run gets an apostrophe: %j",
  (text) => {
    expect(csvLine([text])).toBe(`'${text}\r\n`);
  },
);

test.each([
  ["=a,b", '"\'=a,b"\r\n'],
  ['=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"\r\n'],
  ["\rx", '"\'\rx"\r\n'],
  ["\n=1", '"\'\n=1"\r\n'],
  ["a=b", "a=b\r\n"],
  [" =1", " =1\r\n"],
])("the apostrophe stands inside the quotes, and only at the beginning: %j", (text, line) => {
  expect(csvLine([text])).toBe(line);
});

test("cells are separated by commas, and a line ends as in RFC 4180", () => {
  expect(csvLine(["a", 1, "", null, "b"])).toBe("a,1,,,b\r\n");
});

test("any table of texts is read back as it was, but for the apostrophes", () => {
  const cells = fc.array(fc.string({ unit: "grapheme" }), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(cells, (values) => {
      const [read] = parse(csvLine(values)) as string[][];
      const expected = values.map((value) =>
        /^[=+\-@\t\r\n＝＋－＠]/.test(value) && value !== "-" ? `'${value}` : value,
      );
      expect(read).toEqual(expected);
    }),
  );
});
