import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { makeUserToken, readUserToken } from "../../../src/domain/access/user-token.ts";

const secret = randomBytes(32);
const users = fc.record({
  appId: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  clientId: fc.string({ unit: "grapheme", minLength: 1, maxLength: 128 }),
});

test("a token names its app and its client, whatever characters the id has, and is safe in a URL", () => {
  fc.assert(
    fc.property(users, (user) => {
      const token = makeUserToken(secret, user);
      expect(readUserToken(secret, token)).toEqual(user);
      expect(encodeURIComponent(token)).toBe(token);
    }),
  );
});

test("a token made by another server is refused", () => {
  fc.assert(
    fc.property(users, (user) => {
      expect(readUserToken(secret, makeUserToken(randomBytes(32), user))).toBeUndefined();
    }),
  );
});

test("no change to a token makes it name another user", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ";
  fc.assert(
    fc.property(users, fc.nat(), fc.constantFrom(...alphabet), (user, where, character) => {
      const token = makeUserToken(secret, user);
      const at = where % (token.length + 1);
      for (const forged of [
        token.slice(0, at) + character + token.slice(at + 1),
        token.slice(0, at) + character + token.slice(at),
        token.slice(0, at),
      ]) {
        const read = readUserToken(secret, forged);
        if (read) expect(read).toEqual(user);
        if (at < token.indexOf(".") && forged !== token) expect(read).toBeUndefined();
      }
    }),
    { numRuns: 500 },
  );
});

test("the signature of one user is refused for another", () => {
  fc.assert(
    fc.property(users, users, (first, second) => {
      fc.pre(first.appId !== second.appId || first.clientId !== second.clientId);
      const [, signature] = makeUserToken(secret, first).split(".");
      const [body] = makeUserToken(secret, second).split(".");
      expect(readUserToken(secret, `${body}.${signature}`)).toBeUndefined();
    }),
  );
});

test("anything else sent as a token is refused, without an error", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(readUserToken(secret, text)).toBeUndefined();
    }),
  );
  for (const text of ["", ".", "..", "a.b.c", "MTox.", ".AAAAAAAAAAAAAAAAAAAAAA"])
    expect(readUserToken(secret, text)).toBeUndefined();
});
