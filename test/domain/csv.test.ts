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
  ["a semicolon, which separates cells in many locales", "a;b", '"a;b"'],
  ["a tab", "a\tb", '"a\tb"'],
])("%s", (_, value, cell) => {
  expect(csvLine([value])).toBe(`${cell}\r\n`);
});

test.each(["=1+1", "+1", "-1", "@sum", "=", "+", "@", "--", "-2+3", "＝1", "＋1", "－1", "＠a"])(
  "a text that a spreadsheet would run gets an apostrophe: %j",
  (text) => {
    expect(csvLine([text])).toBe(`'${text}\r\n`);
  },
);

test.each([
  ["=a,b", '"\'=a,b"\r\n'],
  ['=HYPERLINK("x")', '"\'=HYPERLINK(""x"")"\r\n'],
  ["\rx", '"\'\rx"\r\n'],
  ["\tx", '"\'\tx"\r\n'],
  ["\n=1", "\"'\n'=1\"\r\n"],
  [" =1", "' =1\r\n"],
  ["a=b", "a=b\r\n"],
])("the apostrophe is inside the quotes: %j", (text, line) => {
  expect(csvLine([text])).toBe(line);
});

test("cells are separated by commas, and a line ends as in RFC 4180", () => {
  expect(csvLine(["a", 1, "", null, "b"])).toBe("a,1,,,b\r\n");
});

test.each([
  ["a;=1+1", '"a;\'=1+1"\r\n'],
  ["a;@sum", '"a;\'@sum"\r\n'],
  ["a\t+1", '"a\t\'+1"\r\n'],
  ["a|-2+3", '"a|\'-2+3"\r\n'],
  ["a\r\n=1", '"a\r\n\'=1"\r\n'],
  ["a؛=1", '"a؛\'=1"\r\n'],
  ["a; ＝1", '"a; \'＝1"\r\n'],
  ['a;"=1"', '"a;""\'=1"""\r\n'],
  ["a;b=1", '"a;b=1"\r\n'],
  ["a=1;b", '"a=1;b"\r\n'],
])("a formula after a separator of another locale gets an apostrophe too: %j", (text, line) => {
  expect(csvLine([text])).toBe(line);
});

/** Texts made mostly of the characters that matter here. */
const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."=+-@＝＋－＠;,|\t\r\n\"'؛، a1"), maxLength: 12 }),
  fc.string({ unit: "grapheme" }),
);

test("no cell begins with a formula, whatever separator a spreadsheet uses and whether it honours quotes or not", () => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), (values) => {
      const line = csvLine(values);
      const rows = line.split(/\r\n|\r|\n/);
      const split = [";", "\t", "|", "؛", "،"].flatMap((separator) => rows.flatMap((row) => row.split(separator)));
      const [read = []] = parse(line) as string[][];
      const formulas = [...split, ...read].filter((cell) => /^[\s"]*[=+\-@＝＋－＠]/.test(cell));
      expect(read.filter((cell) => /^[\t\r\n]/.test(cell))).toEqual([]);
      // A single dash stands for no time.
      expect(formulas.filter((cell) => !/^-(?:,|$)/.test(cell))).toEqual([]);
    }),
  );
});

test("any table of texts is read back unchanged, except for the apostrophes", () => {
  const cells = fc.array(texts, { minLength: 2, maxLength: 5 });
  const bare = (text: string) => text.replaceAll("'", "");
  fc.assert(
    fc.property(cells, (values) => {
      const [read] = parse(csvLine(values)) as string[][];
      expect(read!.map(bare)).toEqual(values.map(bare));
    }),
  );
});
