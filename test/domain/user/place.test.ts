import fc from "fast-check";
import { expect, test } from "vitest";
import { NOWHERE, placeOf } from "../../../src/domain/user/place.ts";

test.each<[string, object]>([
  ["223.5.5.5", { country: "中国", province: "浙江省", city: "杭州市" }],
  ["::ffff:223.5.5.5", { country: "中国", province: "浙江省", city: "杭州市" }],
  ["2400:3200::1", { country: "中国" }],
  ["8.8.8.8", { country: "美国" }],
])("%s is found in the data that comes with the package", (address, expected) => {
  expect(placeOf(address)).toMatchObject(expected);
});

test.each([
  "",
  "127.0.0.1",
  "10.1.2.3",
  "192.168.0.1",
  "::1",
  "fe80::1",
  "0.0.0.0",
  "999.1.1.1",
  "1.2.3",
  "not an address",
])("%j is nowhere", (address) => {
  expect(placeOf(address)).toEqual(NOWHERE);
});

test("any address gives the same three texts each time, and no text makes it fail", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()), (address) => {
      const place = placeOf(address);
      expect(Object.values(place).map((value) => typeof value)).toEqual(["string", "string", "string"]);
      expect(placeOf(address)).toEqual(place);
    }),
  );
});
