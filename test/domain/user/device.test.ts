import { createCipheriv, randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import { deviceOf, mergeDevice, readDeviceData } from "../../../src/domain/user/device.ts";

const device = { os_name: "android", oaid: "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5", phone_model: "小米 14" };

function encrypted(text: string, key: Buffer): string {
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb`, key, null);
  return Buffer.concat([cipher.update(text, "utf8"), cipher.final()]).toString("base64");
}

test.each([16, 24, 32])("data encrypted with a key of %d bytes is read", (bytes) => {
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string()), (sent) => {
      const key = randomBytes(bytes);
      expect(readDeviceData(encrypted(JSON.stringify(sent), key), key.toString("base64"))).toEqual(sent);
    }),
    { numRuns: 50 },
  );
});

test("a vector made elsewhere is read: AES-128-ECB, PKCS7, base64", () => {
  const key = Buffer.from("0123456789abcdef").toString("base64");
  expect(readDeviceData("8sbrlUL1bJ7Hnzhb5p9oXQMACutP9R0pGI+C5KFiofY=", key)).toEqual({ os_name: "ios" });
});

test("the plain object and its JSON text are accepted as they are", () => {
  expect(readDeviceData(device, "")).toEqual(device);
  expect(readDeviceData(` ${JSON.stringify(device)}`, "")).toEqual(device);
});

test("a long id inside the encrypted text keeps its digits", () => {
  const key = randomBytes(16);
  expect(readDeviceData(encrypted('{"imei":86753001234567890123}', key), key.toString("base64"))).toEqual({
    imei: "86753001234567890123",
  });
});

const key = randomBytes(16);

test.each<[string, string]>([
  ["another key", encrypted(JSON.stringify(device), randomBytes(16))],
  ["text that is not base64", "not encrypted at all"],
  ["half a block", encrypted(JSON.stringify(device), key).slice(0, 20)],
  ["a list", encrypted("[1]", key)],
  ["a number", encrypted("7", key)],
  ["broken JSON", encrypted('{"os_name":', key)],
  ["plain JSON that is broken", '{"os_name":'],
])("%s is refused as undecipherable", (_, data) => {
  expect(() => readDeviceData(data, key.toString("base64"))).toThrow(
    expect.objectContaining({ reason: "undecipherable" }),
  );
});

test("an app without a usable key refuses encrypted data without failing", () => {
  for (const bad of ["", "AAAA", randomBytes(17).toString("base64")])
    expect(() => readDeviceData(encrypted("{}", key), bad)).toThrow(
      expect.objectContaining({ reason: "undecipherable" }),
    );
});

test.each([[undefined], [null], [""], [7], [["a"]]])("data that is %j is a bad parameter", (data) => {
  expect(() => readDeviceData(data, key.toString("base64"))).toThrow(
    expect.objectContaining({ reason: "badParameter" }),
  );
});

test("a device has every field of the interface, empty if nothing was sent", () => {
  expect(deviceOf({ os_name: "iOS", idfa: "00000000-0000-0000-0000-000000000000", api_version: "33" })).toEqual({
    os_name: "ios",
    api_version: 33,
    android_id: "",
    imei: "",
    oaid: "",
    idfa: "",
    idfv: "",
    caid1_md5: "",
    caid2_md5: "",
    mac: "",
    android_version: "",
    rom: "",
    rom_version: "",
    phone_brand: "",
    phone_model: "",
  });
  expect(deviceOf({ brand: "Xiaomi", model: "14", phone_model: "13" })).toMatchObject({
    phone_brand: "Xiaomi",
    phone_model: "13",
  });
});

test("a later report adds what is new and never erases what is known", () => {
  const known = deviceOf({ os_name: "android", imei: "867530012345678", rom: "MIUI" });
  const merged = mergeDevice(known, deviceOf({ oaid: "abc", rom: "HyperOS", imei: "000000000000000" }));
  expect(merged).toEqual({ ...known, oaid: "abc", rom: "HyperOS" });
  const value = fc.oneof(fc.string(), fc.integer(), fc.constant(null));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...Object.keys(known)), value), (sent) => {
      const after = mergeDevice(known, deviceOf(sent as JsonObject));
      for (const [field, old] of Object.entries(known))
        if (old !== "") expect(after[field as keyof typeof after]).not.toBe("");
      expect(mergeDevice(after, deviceOf(sent as JsonObject))).toEqual(after);
    }),
  );
});
