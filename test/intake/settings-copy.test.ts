import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { ServedApp } from "../../src/intake/app-directory.ts";
import { readSettingsCopy, SettingsCopy, settingsFileOf } from "../../src/intake/settings-copy.ts";
import { createLog } from "../../src/log.ts";
import { vaultOfKey } from "../../src/vault.ts";

const vault = vaultOfKey("a1".repeat(32));
const dataDir = mkdtempSync(join(tmpdir(), "touchpoint-copy-"));
const keys = { userTokenKey: Buffer.alloc(32, 1), erasureKey: Buffer.alloc(32, 2) };
const SAVED_AT_MS = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const app: ServedApp = {
  appId: 7,
  name: "Game",
  accessToken: "token-of-the-app",
  appKey: "key-of-the-app",
  aesKey: "aes-of-the-app",
  timeZone: "Asia/Shanghai",
  currency: "CNY",
  rates: { USD: "7.1" },
  metadataMode: "strict",
  requireRegistration: true,
  enabled: false,
  payShareBp: 10_000,
  refundsOn: "refund",
  createdAtMs: 1,
  metadata: {
    mode: "strict",
    events: new Map([["level_up", "declared"]]),
    properties: { event: new Map([["level", "number"]]), user: new Map([["vip", "bool"]]) },
  },
  secrets: new Map([["baidu akey", "akey-of-the-app"]]),
} as ServedApp;

const read = (more: Partial<Parameters<typeof readSettingsCopy>[1]> = {}) =>
  readSettingsCopy(dataDir, { vault, journalId: "mine", nowMs: SAVED_AT_MS, ...more });

let copy: SettingsCopy;
beforeEach(async () => {
  rmSync(settingsFileOf(dataDir), { force: true });
  copy = new SettingsCopy({
    dataDir,
    vault,
    keys,
    journalId: "mine",
    clock: () => SAVED_AT_MS,
    log: createLog("silent"),
    applied: () => [123, 4],
  });
});
afterAll(() => rmSync(dataDir, { recursive: true }));

test("what is stored is read again, whole", async () => {
  expect(await read()).toBe("there is no copy of the settings yet");
  await copy.store([app]);
  expect(await read()).toEqual({ savedAtMs: SAVED_AT_MS, applied: [123, 4], apps: [app], ...keys });
});

test("a position in another journal does not count", async () => {
  await copy.store([app]);
  expect(await read({ journalId: "another" })).toMatchObject({ applied: [], apps: [app] });
});

test("a copy from before there were partitions has the position of the only one", async () => {
  await copy.store([app]);
  change((text) => {
    const [head = "", sealed = ""] = text.split("\n");
    const resealed = vault.seal(vault.open(sealed).replace('"applied":[123,4]', '"applied":123'));
    const sha256 = createHash("sha256").update(resealed).digest("hex");
    return `${JSON.stringify({ ...JSON.parse(head), sha256 })}\n${resealed}\n`;
  });
  expect(await read()).toMatchObject({ applied: [123] });
});

test("only we can read the file, and nothing in it is readable without the key", async () => {
  await copy.store([app]);
  expect(statSync(settingsFileOf(dataDir)).mode & 0o777).toBe(0o600);
  expect(readFileSync(settingsFileOf(dataDir), "utf8")).not.toMatch(/of-the-app|Game/);
});

test("it is written when something has changed, and not otherwise", async () => {
  await copy.store([app]);
  const first = readFileSync(settingsFileOf(dataDir), "utf8");
  await copy.store([app]);
  expect(readFileSync(settingsFileOf(dataDir), "utf8")).toBe(first);
  await copy.store([{ ...app, enabled: true }]);
  expect(await read()).toMatchObject({ apps: [{ enabled: true }] });
});

test("changes in quick succession are stored together, and the last one counts", async () => {
  await copy.store([app]);
  const stored = Array.from({ length: 50 }, (_, number) => copy.store([{ ...app, name: `Game ${number}` }]));
  expect(new Set(stored).size).toBe(1);
  await stored[0];
  expect(await read()).toMatchObject({ apps: [{ name: "Game 49" }] });
});

test("a change just before a stop is stored", async () => {
  await copy.store([app]);
  void copy.store([{ ...app, name: "Renamed" }]);
  await copy.stop();
  expect(await read()).toMatchObject({ apps: [{ name: "Renamed" }] });
});

test.each<[string, () => void, Parameters<typeof read>[0]]>([
  ["the copy of the settings is damaged", () => change((text) => text.replace("v1.", "v1.x")), {}],
  ["the copy of the settings is damaged", () => change((text) => text.slice(0, 100)), {}],
  [
    "the copy of the settings was written by another version",
    () => change((text) => text.replace('"version":2', '"version":99')),
    {},
  ],
  ["the copy of the settings is sealed with another key", () => {}, { vault: vaultOfKey("b2".repeat(32)) }],
  ["the copy of the settings is sealed with another key", () => {}, { vault: undefined }],
  ["the copy of the settings is too old", () => {}, { nowMs: SAVED_AT_MS + 7 * DAY_MS + 1 }],
])("%s", async (sentence, spoil, options) => {
  await copy.store([app]);
  spoil();
  expect(await read(options)).toBe(sentence);
});

function change(edit: (text: string) => string): void {
  const path = settingsFileOf(dataDir);
  writeFileSync(path, edit(readFileSync(path, "utf8")));
}

test("a folder that cannot be written does not stop anything", async () => {
  const nowhere = new SettingsCopy({
    dataDir: join(dataDir, "missing"),
    vault,
    keys,
    journalId: "mine",
    clock: () => SAVED_AT_MS,
    log: createLog("silent"),
    applied: () => [0],
  });
  await nowhere.store([app]);
});
