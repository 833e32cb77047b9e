import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { makeVault, OpenedSecrets, openVault } from "../src/vault.ts";

const folder = mkdtempSync(join(tmpdir(), "touchpoint-vault-"));
afterAll(() => rmSync(folder, { recursive: true }));

const vault = openVault({ dataDir: folder, secretKey: "a1".repeat(32) });

test("a sealed text opens to the same text, and never looks the same twice", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (secret) => {
      const sealed = vault.seal(secret);
      expect(vault.open(sealed)).toBe(secret);
      expect(vault.seal(secret)).not.toBe(sealed);
      if (secret.length > 3) expect(sealed).not.toContain(secret);
    }),
  );
});

test("a seal changed at any place does not open", () => {
  const sealed = vault.seal("the app's aes key");
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    expect(() => vault.open(`v1.${changed.toString("base64url")}`), `bit ${bit}`).toThrow();
  }
  for (const text of ["", "v1.", sealed.slice(0, 20), sealed.slice(0, -4)]) expect(() => vault.open(text)).toThrow();
});

test("another key does not open it, and the error names the wrong setting", () => {
  const other = openVault({ dataDir: folder, secretKey: "b2".repeat(32) });
  expect(() => other.open(vault.seal("secret"))).toThrow(/SECRET_KEY/);
});

test("each purpose has its own key, the same one each time", () => {
  expect(vault.keyFor("user-token")).toEqual(vault.keyFor("user-token"));
  expect(vault.keyFor("user-token")).not.toEqual(vault.keyFor("session"));
  expect(vault.keyFor("user-token")).toHaveLength(32);
});

test("the fingerprint identifies the key and is used for nothing else", () => {
  const [same, other] = ["a1", "b2"].map((digits) => openVault({ dataDir: folder, secretKey: digits.repeat(32) }));
  expect(vault.fingerprint).toBe(same!.fingerprint);
  expect(vault.fingerprint).not.toBe(other!.fingerprint);
  expect(vault.fingerprint).not.toContain("a1".repeat(8));
});

test("without a setting the key is made once, only when needed, in a file that only the owner can read", () => {
  const dataDir = join(folder, "fresh");
  expect(() => openVault({ dataDir, secretKey: "" })).toThrow(
    /SECRET_KEY is not set, and .*secret\.key does not exist/,
  );
  expect(existsSync(dataDir)).toBe(false);
  const sealed = makeVault({ dataDir, secretKey: "" }).seal("secret");
  const path = join(dataDir, "secret.key");
  const key = readFileSync(path, "utf8");
  expect(key).toMatch(/^[0-9a-f]{64}\n$/);
  if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(openVault({ dataDir, secretKey: "" }).open(sealed)).toBe("secret");
  expect(makeVault({ dataDir, secretKey: "" }).open(sealed)).toBe("secret");
  expect(readFileSync(path, "utf8")).toBe(key);
});

test("a secret is opened once, until a whole round has not asked for it", () => {
  const opened: string[] = [];
  const secrets = new OpenedSecrets({
    open(sealed) {
      opened.push(sealed);
      return vault.open(sealed);
    },
  });
  const [one, other] = [vault.seal("one"), vault.seal("other")];
  const ask = (...all: string[]) => all.map((sealed) => secrets.open(sealed));
  expect(ask(one, other, one)).toEqual(["one", "other", "one"]);
  secrets.beginRound();
  expect(ask(one)).toEqual(["one"]);
  secrets.beginRound();
  expect(ask(one, other)).toEqual(["one", "other"]);
  expect(opened).toEqual([one, other, other]);
});
