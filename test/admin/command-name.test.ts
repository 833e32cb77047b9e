import { expect, test } from "vitest";
import { readCommandName, signedCommandName } from "../../src/admin/command-name.ts";
import { vaultOfKey } from "../../src/vault.ts";

const vault = vaultOfKey("a1".repeat(32));
const other = vaultOfKey("b2".repeat(32));
const NAME = "command line (梅)";
const signed = signedCommandName(vault, NAME);

test("a command's name is read as it was signed", () => {
  expect(readCommandName(vault, signed)).toBe(NAME);
  expect(signed).toMatch(/^[\w.-]+$/);
});

test.each<[string, string | undefined]>([
  ["no header", undefined],
  ["an empty header", ""],
  ["a name without a signature", signed.split(".")[0]],
  ["the signature of another name", `${Buffer.from("mei").toString("base64url")}.${signed.split(".")[1]}`],
  ["the signature of another installation", signedCommandName(other, NAME)],
])("%s names nobody", (_, header) => {
  expect(readCommandName(vault, header)).toBeUndefined();
});
