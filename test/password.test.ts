import { expect, test } from "vitest";
import { hashPassword, isPassword, passwordProblem } from "../src/password.ts";

test("a password matches its own hash, and no other", async () => {
  const hash = await hashPassword("correct horse");
  expect(await isPassword("correct horse", hash)).toBe(true);
  expect(await isPassword("correct horsE", hash)).toBe(false);
  expect(await isPassword("", hash)).toBe(false);
  expect(hash).not.toContain("horse");
});

test("the same password has a different hash each time", async () => {
  expect(await hashPassword("correct horse")).not.toBe(await hashPassword("correct horse"));
});

test("composed and decomposed characters are the same password", async () => {
  expect(await isPassword("caf\u0065\u0301 au lait", await hashPassword("caf\u00e9 au lait"))).toBe(true);
});

test("an invalid hash matches nobody", async () => {
  for (const hash of [undefined, "", "none", "scrypt$1$2$3", "$2b$10$abcdefghijklmnopqrstuv"]) {
    expect(await isPassword("none", hash)).toBe(false);
  }
});

test.each([
  ["too short", "nine chrs", /at least 10/],
  ["too long", "ab12".repeat(51), /at most 200/],
  ["of too few characters", "abababababab", /four different/],
])("a password that is %s is refused", (_, password, reason) => {
  expect(passwordProblem(password)).toMatch(reason);
});

test("any other password is accepted", () => {
  expect(passwordProblem("correct horse")).toBeUndefined();
});
